#pragma once
/// The style of the page of a plan.

#include <string_view>

namespace shardtype::detail {

inline constexpr std::string_view program_style = R"css(
:root {
  color-scheme: light dark;
  --page: #f6f7f9; --card: #ffffff; --ink: #1c2430; --quiet: #667085; --line: #d5dae2;
  --send: #b4341f; --send-soft: #fdeae6; --product: #1d58b8; --product-soft: #e6effc;
  --local: #56657a; --local-soft: #eceff3; --veil: #ffffff66; --hatch: #1c243099;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #11151b; --card: #1a2029; --ink: #e6eaf0; --quiet: #94a0b3; --line: #364152;
    --send: #ff8a73; --send-soft: #3b201c; --product: #7fb2ff; --product-soft: #1a2a44;
    --local: #a9b5c6; --local-soft: #2a323e; --veil: #00000055; --hatch: #ffffffa6;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
main { max-width: 1240px; margin: 0 auto; padding: 28px 24px 40px; }
code, .name, .dim, .what, .cost, .size, .summand {
  font-family: ui-monospace, "SF Mono", Consolas, "DejaVu Sans Mono", monospace; }
h1 { margin: 0; font-size: 26px; font-weight: 650; }
h2 { margin: 32px 0 12px; font-size: 17px; }
header { display: flex; justify-content: space-between; gap: 24px; }
header p { margin: 6px 0 0; }
p code { white-space: nowrap; }
figure { margin: 0; text-align: center; }
figcaption, .quiet { color: var(--quiet); font-size: 13px; }
.totals { display: flex; flex-wrap: wrap; gap: 12px; margin: 22px 0; }
.totals div { flex: 1 1 150px; background: var(--card); border: 1px solid var(--line);
  border-radius: 10px; padding: 10px 14px; }
.totals b { display: block; font-size: 21px; font-weight: 650; white-space: nowrap; }
.totals span { color: var(--quiet); font-size: 13px; }
.time { display: flex; gap: 2px; height: 26px; border-radius: 7px; overflow: hidden; }
.time div { flex: 0 0 2px; min-width: 2px; color: var(--card); font-size: 12px; line-height: 26px;
  text-align: center; overflow: hidden; }
.time .send, i.send { background: var(--send); }
.time .product, i.product { background: var(--product); }
.time .local, i.local { background: var(--local); }
.legend i { display: inline-block; width: 11px; height: 11px; border-radius: 3px;
  margin: 0 3px 0 12px; vertical-align: -1px; }
.legend i:first-child { margin-left: 0; }
i.unreduced { border: 1px solid var(--line); background: repeating-linear-gradient(45deg,
  var(--hatch) 0 1.5px, transparent 1.5px 4px); }
.wide { overflow-x: auto; background: var(--card); border: 1px solid var(--line);
  border-radius: 12px; }
.picture { padding: 12px; width: fit-content; min-width: 100%; max-width: calc(100vw - 48px);
  position: relative; left: 50%; transform: translateX(-50%); }
.picture > svg { display: block; margin: 0 auto; }
svg text { fill: var(--ink); font-size: 12px; }
svg .mid { text-anchor: middle; }
svg .end { text-anchor: end; }
svg .name { font-size: 16px; font-weight: 700; }
svg .dim, svg .size, svg .cost { fill: var(--quiet); font-size: 11.5px; }
svg .what { font-weight: 650; font-size: 12.5px; }
svg .number { fill: var(--quiet); font-size: 11px; }
svg .card { fill: var(--page); stroke: var(--line); }
svg .given { stroke-dasharray: 5 4; }
svg .result { stroke: var(--ink); stroke-width: 2; }
svg .block { stroke: var(--page); stroke-width: 1; }
svg .thin { stroke-width: 0.35; }
svg .edge { fill: none; stroke: var(--ink); stroke-opacity: 0.55; }
svg .veil { fill: var(--veil); }
svg .hatch { stroke: var(--hatch); stroke-width: 2.4; }
svg .badge { fill: var(--ink); }
svg .summand { fill: var(--page); font-size: 11.5px; font-weight: 700; }
svg .arrow { fill: none; stroke: var(--quiet); stroke-width: 1.6; }
svg .again { stroke-dasharray: 4 4; }
svg .tip { fill: var(--quiet); }
svg .pill { stroke-width: 1.4; }
svg .pill.send { fill: var(--send-soft); stroke: var(--send); }
svg .pill.product { fill: var(--product-soft); stroke: var(--product); }
svg .pill.local { fill: var(--local-soft); stroke: var(--local); }
table { border-collapse: collapse; width: 100%; font-size: 13.5px; }
th { text-align: left; color: var(--quiet); font-weight: 500; }
th, td { padding: 7px 12px; border-bottom: 1px solid var(--line); white-space: nowrap; }
tr:last-child td { border-bottom: 0; }
.n { text-align: right; font-variant-numeric: tabular-nums; }
.kind { padding: 2px 9px; border-radius: 8px; font-size: 12.5px; font-weight: 600; }
.kind.send { background: var(--send-soft); color: var(--send); }
.kind.product { background: var(--product-soft); color: var(--product); }
.kind.local { background: var(--local-soft); color: var(--local); }
.bar { min-width: 130px; }
.bar i { display: block; height: 10px; min-width: 1px; border-radius: 3px; }
)css";

}  // namespace shardtype::detail
