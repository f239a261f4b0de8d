#pragma once
/// Batches of sequences from a file of tokens.

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <shardtype/random/random.hpp>
#include <shardtype/train/epochs.hpp>
#include <shardtype/train/token_file.hpp>

namespace shardtype::train {

/// Sequences, and of each token the one that follows it.
template <class Ids>
struct Batch {
  Ids ids;
  Ids targets;
};

/// Options for reading a file of tokens.
struct TokensOptions {
  TokenType type = TokenType::bytes;  ///< of a file that is no .npy file
  double held_out = 0;                ///< share of the tokens, at the end, for evaluation
};

/// The text that a model learns from. A rank reads the tokens of its block only; a batch is a
/// function of its number and the key, so it is the same on every sharding and number of ranks, and
/// training goes on with the same next batch after a restart.
///
///     train::Tokens const text(mesh, "corpus.txt", {.held_out = 0.05});
///     auto const [ids, targets] = text.batch<Ids>(step, key);   // Ids: i64[B@X, S]
template <class M>
class Tokens {
 public:
  /// Collective over the mesh. Errors, the same on every rank: those of TokenFile; E30 a share that
  /// is not in [0, 1).
  Tokens(M const& mesh, std::string path, TokensOptions const& options = {})
      : mesh_(mesh), file_(mesh, std::move(path), options.type) {
    if (!(options.held_out >= 0 && options.held_out < 1))
      throw Error("E30",
                  "train::Tokens: the share of tokens that are held out is at least 0 and below 1",
                  FailedOn::every_rank);
    auto const size = static_cast<double>(file_.size());
    learned_ = file_.size() - static_cast<std::int64_t>(size * options.held_out);
  }

  /// Number of tokens, those for evaluation included.
  std::int64_t size() const { return file_.size(); }
  /// One more than the largest token; 256 of bytes.
  std::int64_t vocabulary() const { return file_.vocabulary(); }

  /// Batch `step` of training: windows of S tokens, shuffled by the key anew in each epoch, in
  /// which each comes once. `Ids` is a tensor of integers `i64[B, S]` with static extents, split in
  /// any way. Communicates nothing. Errors: IO6 if there is no window of S + 1 tokens, or the file
  /// has become shorter; E85 a number that is negative, or larger than 2^63 / B - 2.
  template <class Ids>
  Batch<Ids> batch(std::int64_t step, RandomKey const& key) const {
    auto const [rows, length] = shape<Ids>();
    // step rows and those of the next batch are numbers that can be counted
    if (std::int64_t const most = std::numeric_limits<std::int64_t>::max() / rows - 2;
        step < 0 || step > most)
      throw Error("E85",
                  "batch " + std::to_string(step) + " of " + file_.path() +
                      " is none: batches for training are numbered from 0 to " +
                      std::to_string(most),
                  FailedOn::every_rank);
    if (!mesh_.here()) return read<Ids>({});
    std::int64_t const windows = windows_in<Ids>(learned_, "for training");
    Batch<Ids> out = read<Ids>(starts(step, key, rows, length, windows));
    // the next batch while this one is computed with; rows that the rank holds are the same ones
    for (std::int64_t const start :
         own_rows<Ids>(out, starts(step + 1, key, rows, length, windows)))
      file_.expect(start, length + 1);
    return out;
  }

  /// Number of batches of `evaluation`.
  template <class Ids>
  std::int64_t evaluation_batches() const {
    return windows_of<Ids>(file_.size() - learned_) / shape<Ids>()[0];
  }
  /// Batch `number` of the tokens held out, in the order of the file. Error IO6 if there are fewer
  /// batches.
  template <class Ids>
  Batch<Ids> evaluation(std::int64_t number) const {
    auto const [rows, length] = shape<Ids>();
    if (!mesh_.here()) return read<Ids>({});
    if (number < 0 || number >= evaluation_batches<Ids>())
      throw Error("IO6",
                  file_.path() + " has " + std::to_string(evaluation_batches<Ids>()) +
                      " batches of " + std::to_string(rows) + " x " + std::to_string(length) +
                      " tokens for evaluation; batch " + std::to_string(number) +
                      " is none of them",
                  FailedOn::every_rank);
    std::vector<std::int64_t> at;
    for (std::int64_t r = 0; r < rows; ++r) at.push_back(learned_ + (number * rows + r) * length);
    return read<Ids>(at);
  }

 private:
  template <class Ids>
  static constexpr std::array<std::int64_t, 2> shape() {
    static_assert(Ids::rank == 2, "a batch of tokens is a tensor of two dims, [B, S]");
    static_assert(std::is_integral_v<typename Ids::element> && sizeof(typename Ids::element) >= 4,
                  "a batch of tokens has elements of type std::int32_t or std::int64_t");
    constexpr core::Names const& names = core::Scope<Ids>::names;
    constexpr std::array<std::int64_t, 2> out{names.extents()[0], names.extents()[1]};
    static_assert(out[0] != dynamic && out[1] != dynamic,
                  "a batch of tokens has static extents: Index<\"B\", 8>, Index<\"S\", 256>");
    static_assert(out[0] > 0 && out[1] > 0,
                  "a batch of tokens has a sequence and a token at least: Index<\"B\", 8>");
    return out;
  }
  /// Windows of S tokens with the one behind them.
  template <class Ids>
  static std::int64_t windows_of(std::int64_t tokens) {
    return tokens < 1 ? 0 : (tokens - 1) / shape<Ids>()[1];
  }
  template <class Ids>
  std::int64_t windows_in(std::int64_t tokens, char const* what) const {
    std::int64_t const n = windows_of<Ids>(tokens);
    if (n == 0)
      throw Error("IO6",
                  file_.path() + " has " + std::to_string(tokens) + " tokens " + what +
                      "; a sequence and what follows it are " + std::to_string(shape<Ids>()[1] + 1),
                  FailedOn::every_rank);
    return n;
  }

  static std::vector<std::int64_t> starts(std::int64_t step, RandomKey const& key,
                                          std::int64_t rows, std::int64_t length,
                                          std::int64_t windows) {
    std::vector<std::int64_t> out = detail::rows_of_batch(step, key, rows, windows);
    for (std::int64_t& at : out) at *= length;
    return out;
  }

  template <class Ids>
  Batch<Ids> read(std::vector<std::int64_t> const& at) const {
    file_.check_length();
    auto const from = [&](std::int64_t shift) {
      return api::from_function<Ids>(mesh_, [&, shift](std::int64_t b, std::int64_t s) {
        return static_cast<typename Ids::element>(
            file_[at[static_cast<std::size_t>(b)] + s + shift]);
      });
    };
    return {from(0), from(1)};
  }

  /// Those of `at` whose rows are in the calling rank's block.
  template <class Ids>
  static std::vector<std::int64_t> own_rows(Batch<Ids> const& batch,
                                            std::vector<std::int64_t> const& at) {
    std::vector<std::int64_t> out;
    if (!batch.ids.mesh().here()) return out;
    auto const rows = batch.ids.rows()[0];
    for (std::int64_t k = 0; k < rows.size(); ++k)
      out.push_back(at[static_cast<std::size_t>(rows[k])]);
    return out;
  }

  M mesh_;
  TokenFile file_;
  std::int64_t learned_ = 0;  ///< number of tokens before those that are held out
};

}  // namespace shardtype::train
