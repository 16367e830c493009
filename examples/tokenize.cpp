// Turns each line of standard input into a line of ids, without special tokens; with --pair, tab-separated pairs into
// [CLS] a [SEP] b [SEP].
#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdint>
#include <gflow/text/load_tokenizer.hpp>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr const char* examples = R"(Examples:
  echo "Hello, world!" | tokenize --tokenizer wordpiece:vocab.txt
      7592 1010 2088 999
  tokenize --tokenizer sentencepiece:unigram.model < text.txt > ids.txt
  printf 'A man sleeps.\tHe is awake.\n' | tokenize --tokenizer wordpiece:vocab.txt --pair

Exit status: 0 done, 1 failure (bad input, unreadable or wrong file), 2 usage.)";

struct Settings {
    std::string tokenizer;
    bool pair = false;
    bool unk_as_token = false;
};

std::string line_name(std::int64_t number) { return "line " + std::to_string(number); }

void require_utf8(std::string_view line, std::int64_t number) {
    if (const auto bad = gflow::first_invalid_utf8(line))
        throw gflow::io_error(line_name(number) + ", byte " + std::to_string(*bad + 1) + " is not UTF-8 (" +
                              gflow::detail::hex_byte(line[*bad]) + "): convert the text, e.g. with iconv -t UTF-8");
}

std::vector<std::int32_t> encode_pair(const gflow::WordPiece& tokenizer, std::string_view line, std::int64_t number) {
    const std::size_t tab = line.find('\t');
    if (tab == std::string_view::npos || line.find('\t', tab + 1) != std::string_view::npos)
        throw gflow::io_error(line_name(number) + " is no pair: --pair needs exactly one tab in every line");
    return tokenizer.encode_pair(line.substr(0, tab), line.substr(tab + 1));
}

void append_ids(std::string& text, const std::vector<std::int32_t>& ids) {
    char digits[16];
    for (std::size_t i = 0; i < ids.size(); ++i) {
        if (i > 0) text += ' ';
        text.append(digits, std::to_chars(digits, digits + sizeof digits, ids[i]).ptr);
    }
    text += '\n';
}

void run(const Settings& settings) {
    const gflow::TokenizerSpec spec = gflow::parse_tokenizer(settings.tokenizer);
    if (spec.kind == "train")
        throw gflow::usage_error("train:SIZE has no text to train on here: use wordpiece:VOCAB or sentencepiece:MODEL");
    if (settings.pair && spec.kind != "wordpiece")
        throw gflow::usage_error("--pair needs [CLS] and [SEP]: use it with wordpiece:VOCAB");
    const auto tokenizer =
        gflow::load_tokenizer(spec.kind, spec.file, gflow::TokenizerOptions{.unk_as_token = settings.unk_as_token});
    const auto* wordpiece = dynamic_cast<const gflow::WordPiece*>(tokenizer.get());

    std::string line, ids;
    for (std::int64_t number = 1; std::getline(std::cin, line); ++number) {
        require_utf8(line, number);
        ids.clear();
        append_ids(ids, settings.pair ? encode_pair(*wordpiece, line, number) : tokenizer->encode(line));
        std::cout << ids;
        if (!std::cout) break;
    }
    if (std::cin.bad())
        throw gflow::io_error("standard input cannot be read: give a text, as in tokenize … < text.txt");
    if (!std::cout.flush()) throw gflow::io_error("standard output cannot be written: is the disk full?");
}

int complain(std::string_view what, int status) {
    std::cout.flush();
    std::cerr << "tokenize: " << what << std::endl;
    return status;
}

}  // namespace

int main(int argc, char** argv) {
    std::ios::sync_with_stdio(false);
    std::cin.tie(nullptr);
    Settings settings;
    CLI::App app("Turns each line of standard input into a line of ids, without special tokens.", "tokenize");
    app.footer(examples);
    app.add_option("--tokenizer", settings.tokenizer, "wordpiece:VOCAB or sentencepiece:MODEL")->required();
    app.add_flag("--pair", settings.pair, "lines are tab-separated pairs: ids of [CLS] a [SEP] b [SEP]");
    app.add_flag("--unk-as-token", settings.unk_as_token, "the literal <unk> in the text is one unknown id");
    try {
        app.parse(argc, argv);
        run(settings);
    } catch (const CLI::Success& help) {
        return app.exit(help);
    } catch (const CLI::ParseError& problem) {
        return complain(std::string(problem.what()) + ": see tokenize --help", 2);
    } catch (const gflow::usage_error& problem) {
        return complain(problem.what(), 2);
    } catch (const std::exception& problem) {
        return complain(problem.what(), 1);
    }
    return 0;
}
