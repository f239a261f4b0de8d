// The programs of docs/by_example/plans.md, one for each function. On 2 ranks.
// SHOWN: docs
// ALONE: it calls all functions of a family, which checks of all examples would read again
// RANKS: 2
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include <shardtype/shardtype.hpp>
#include <shardtype/visualize/choices.hpp>
#include <shardtype/visualize/program_page.hpp>
#include <shardtype/visualize/timeline.hpp>

using namespace shardtype;

namespace {

// docs: names
struct X : Axis<"X", 2> {};  // two ranks
struct I : Index<"I", 64> {};
struct J : Index<"J", 64> {};
struct K : Index<"K", 64> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;
using B = Tensor<float, Dim<J, X>, Dim<K>>;
// docs: end

bool first = true;  // of the ranks
void say(std::string const& line) {
  if (first) std::printf("%s\n", line.c_str());
}
void part(char const* name) { say(std::string("== ") + name); }

void of_expressions(Mesh<X> const& mesh) {
  {
    part("lazy");
    // docs: lazy
    auto const a = ones<A>(mesh);
    auto const b = ones<B>(mesh);
    auto const e = lazy(a) * lazy(b);  // recorded: nothing is computed yet
    visualize(evaluate<Dim<I, X>, Dim<K>>(mesh, e), "c");
    // docs: end
  }
  {
    part("evaluate");
    // docs: evaluate
    auto const a = ones<A>(mesh);
    auto const b = ones<B>(mesh);
    auto const c =
        evaluate<Dim<I, X>, Dim<K>>(mesh, relu(lazy(a) * lazy(b)));  // moves what must move
    say(type_name(c) + ", its sum is " + std::to_string(item(sum<Tensor<float>>(c))));
    // docs: end
  }
  {
    part("share");
    // docs: share
    auto const a = ones<A>(mesh);
    auto const product = share(lazy(a) * 0.5F);  // computed once, read twice
    auto const c = evaluate<A>(mesh, product * product + product);
    say(std::to_string(item(max<Tensor<float>>(c))));
    // docs: end
  }
  {
    part("constrain");
    // docs: constrain
    auto const a = ones<A>(mesh);
    auto const b = ones<B>(mesh);
    auto const product = constrain<Dim<I>, Dim<K, X>>(lazy(a) * lazy(b));  // made in this sharding
    say(explain(evaluate_to<Dim<I>, Dim<K, X>>, mesh, product));
    // docs: end
  }
  {
    part("evaluate_to");
    // docs: evaluate_to
    auto const a = ones<A>(mesh);
    auto const b = ones<B>(mesh);
    say(explain(evaluate_to<Dim<I, X>, Dim<K>>, mesh,
                lazy(a) * lazy(b)));  // what evaluate would run
    // docs: end
  }
  {
    part("planned");
    // docs: planned
    auto const a = ones<A>(mesh);
    auto const b = ones<B>(mesh);
    PlannedProgram const p = planned(evaluate_to<Dim<I, X>, Dim<K>>, mesh, lazy(a) * lazy(b));
    say(std::to_string(p.plan.collectives()) + " collective, " +
        std::to_string(p.plan.bytes_per_rank()) + " bytes");
    // docs: end
  }
  {
    part("plan_traced");
    // docs: plan_traced
    constexpr auto product = [](auto a, auto b) { return evaluate<Dim<I, X>, Dim<K>>(a * b); };
    constexpr auto p = plan_traced<A, B>(product);  // from types alone
    static_assert(p.count(Collective::all_gather) == 1);
    say(std::to_string(p.bytes_per_rank()) + " bytes");
    // docs: end
  }
  {
    part("dry_run");
    // docs: dry_run
    // For sizes and ranks that need not be there.
    struct N : Index<"N"> {};
    struct Y : Axis<"Y"> {};
    using C = Tensor<float, Dim<N, Y>, Dim<J>>;
    using D = Tensor<float, Dim<J, Y>, Dim<K>>;
    auto const p = dry_run<C, D>([](auto c, auto d) { return evaluate<Dim<N, Y>, Dim<K>>(c * d); })
                       .extent<N>(8192)
                       .ranks<Y>(64)
                       .planned();
    say(std::to_string(p.plan.bytes_per_rank()) + " bytes");
    // docs: end
  }
}

void plans_of_calls(Mesh<X> const& mesh) {
  {
    part("plan");
    // docs: plan
    constexpr auto p = plan(op::Sum<Dim<J>>{}, type<A>);  // nothing is computed or sent
    static_assert(p.count(Collective::all_reduce) == 1);
    say(std::to_string(p.bytes_per_rank()) + " bytes");
    // docs: end
  }
  {
    part("plan_at");
    // docs: plan_at
    struct N : Index<"N"> {};
    auto const a = ones<float, Dim<N, X>, Dim<J>>(mesh, {9, 64});  // an extent of run time
    auto const p = plan_at(op::Reshard<Dim<N>, Dim<J>>{}, a);
    say(std::to_string(p.bytes_per_rank()) + " bytes");
    // docs: end
  }
  {
    part("coords_in");
    // docs: coords_in
    struct N : Index<"N"> {};
    auto const a = ones<float, Dim<N, X>, Dim<J>>(mesh, {9, 64});  // five rows and four
    op::Reshard<Dim<N>, Dim<J>> const gather;
    say(std::to_string(plan_at(gather, a).bytes(coords_in(gather, a))) +
        " bytes of the first rank");
    // docs: end
  }
  {
    part("explain");
    // docs: explain
    auto const a = ones<A>(mesh);
    say(explain(op::Sum<Dim<J>>{}, a));
    // docs: end
  }
  {
    part("valid_on");
    // docs: valid_on
    // Three ranks along an axis: a matrix of any size, and a sort along a split dim.
    struct Y : Axis<"Y"> {};
    using C = OperandTypes<Tensor<float, Dim<I, Y>, Dim<J>>>;
    constexpr bool sum_is = valid_on<op::Sum<I>, C, AxisSize<Y, 3>>;
    constexpr bool sort_is = valid_on<op::Sort<I>, C, AxisSize<Y, 3>>;
    say(std::string(sum_is ? "sum" : "no sum") + (sort_is ? ", sort" : ", no strict sort"));
    // docs: end
  }
  {
    part("product_lower_bound");
    // docs: product_lower_bound
    // An 8192 x 8192 product on 64 ranks: elements that some rank must receive.
    say(std::to_string(product_lower_bound(8192, 8192, 8192, 64)));
    // docs: end
  }
  {
    part("call");
    // docs: call
    auto const a = ones<A>(mesh);
    auto const s = call(op::Sum<J>{}, std::source_location::current(), a);  // as sum<J>(a)
    say(type_name(s));
    // docs: end
  }
}

void texts(Mesh<X> const& mesh) {
  {
    part("type_name");
    // docs: type_name
    auto const a = ones<A>(mesh);
    say(type_name<B>() + ", " + type_name(sum<I>(a)));
    // docs: end
  }
  {
    part("print");
    // docs: print
    auto const a = ones<A>(mesh);
    print(a);  // of more than 1000 elements the corners
    // docs: end
  }
  {
    part("to_text");
    // docs: to_text
    std::string const text = to_text(arange<std::int64_t, Dim<I, X>>(mesh, 64));
    say(text.substr(0, text.find('\n')));
    // docs: end
  }
  {
    part("visualize");
    // docs: visualize
    visualize(ones<A>(mesh), "a");
    // docs: end
  }
  {
    part("picture_of");
    // docs: picture_of
    ShardingPicture const picture = picture_of(ones<A>(mesh));
    say("index " + picture.index_names[0] + " over axis " + picture.mesh_names[0]);
    // docs: end
  }
  {
    part("to_json");
    // docs: to_json
    PlannedProgram const p = planned(evaluate_to<A>, mesh, lazy(ones<A>(mesh)) + 1.0F);
    say(to_json(p).substr(0, 60) + "...");
    // docs: end
  }
  {
    part("to_html");
    // docs: to_html
    PlannedProgram const p = planned(evaluate_to<A>, mesh, lazy(ones<A>(mesh)) + 1.0F);
    std::string const page = to_html(p);
    say(page.substr(0, page.find('\n')));
    // docs: end
  }
  {
    part("write_html");
    // docs: write_html
    PlannedProgram const p = planned(evaluate_to<A>, mesh, lazy(ones<A>(mesh)) + 1.0F);
    write_html(p, "plan.html");
    say(std::filesystem::exists("plan.html") ? "written" : "not written");
    // docs: end
  }
  {
    part("to_svg");
    // docs: to_svg
    PlannedProgram const p = planned(evaluate_to<A>, mesh, lazy(ones<A>(mesh)) + 1.0F);
    std::string const picture = to_svg(p);  // its time and memory
    say(picture.substr(0, 4) + "...");
    // docs: end
  }
  {
    part("write_svg");
    // docs: write_svg
    PlannedProgram const p = planned(evaluate_to<A>, mesh, lazy(ones<A>(mesh)) + 1.0F);
    write_svg(p, "plan.svg");
    say(std::filesystem::exists("plan.svg") ? "written" : "not written");
    // docs: end
  }
  {
    part("layout_choices");
    // docs: layout_choices
    auto const a = ones<A>(mesh);
    auto const b = ones<B>(mesh);
    auto const p = planned(evaluate_to<Dim<I, X>, Dim<K>>, mesh, lazy(a) * lazy(b));
    for (LayoutChoice const& one : layout_choices(p))
      say(one.value + " " + one.chosen + ", else " + one.otherwise);
    // docs: end
  }
  {
    part("explain_choices");
    // docs: explain_choices
    auto const a = ones<A>(mesh);
    auto const b = ones<B>(mesh);
    say(explain_choices(planned(evaluate_to<Dim<I, X>, Dim<K>>, mesh, lazy(a) * lazy(b))));
    // docs: end
  }
}

}  // namespace

int main(int argc, char** argv) {
  Environment const env(argc, argv);
  first = env.rank() == 0;
  // docs: mesh
  Mesh<X> const mesh(env.world());
  // docs: end
  of_expressions(mesh);
  plans_of_calls(mesh);
  texts(mesh);
  return 0;
}
