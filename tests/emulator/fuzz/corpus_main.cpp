// The short run for CI, with any compiler: parses and launches every text of the corpora, then a fixed number
// of mutations of them, equal in every run. If the process ends early, it prints which text did it: run it
// again with `--only NUMBER` to see the text. Usage: corpus_main ROUNDS FOLDER...
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "emulator/fuzz/anything.hpp"
#include "emulator/fuzz/mutate.hpp"

namespace {

using namespace tenon::emulator::fuzz;
using Clock = std::chrono::steady_clock;

constexpr std::size_t largest_text = 16384;
constexpr double slowest = 20;  // seconds a text may take, on a busy machine

char current[200] = "";

void say_which(int signal) {
  std::fputs(current, stderr);  // not safe in every handler, but the process ends here anyway
  std::fflush(stderr);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

std::vector<std::string> read_all(const char* const* folders, int count) {
  std::vector<std::filesystem::path> paths;
  for (int i = 0; i < count; ++i)
    for (const auto& entry : std::filesystem::directory_iterator(folders[i]))
      if (entry.path().extension() == ".ptx") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> texts;
  for (const auto& path : paths) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    texts.push_back(text.str());
  }
  return texts;
}

// Text `number`: the texts of the corpora first, then their mutations.
std::string text_of(const std::vector<std::string>& texts, std::size_t number) {
  if (number < texts.size()) return texts[number];
  Random random(number);
  const std::string& text = texts[random() % texts.size()];
  return mutate(text, texts[random() % texts.size()], largest_text, random);
}

bool run(const std::string& text, std::size_t number) {
  std::snprintf(current, sizeof current, "text %zu ended the process\n", number);
  const auto start = Clock::now();
  parse_anything(text);
  launch_anything(text);
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  if (seconds > slowest) std::fprintf(stderr, "text %zu took %.1f s\n", number, seconds);
  return seconds <= slowest;
}

}  // namespace

int main(int count, char** arguments) {
  for (const int signal : {SIGABRT, SIGSEGV, SIGFPE, SIGILL, SIGTERM}) std::signal(signal, say_which);
  const bool is_one = count > 3 && std::string(arguments[1]) == "--only";
  const int first_folder = is_one ? 3 : 2;
  if (count <= first_folder) {
    std::fputs("usage: corpus_main ROUNDS FOLDER... or corpus_main --only NUMBER FOLDER...\n", stderr);
    return 2;
  }
  const std::vector<std::string> texts = read_all(arguments + first_folder, count - first_folder);
  if (texts.empty()) {
    std::fputs("there is no .ptx file in these folders\n", stderr);
    return 1;
  }
  const std::size_t number = std::stoul(arguments[is_one ? 2 : 1]);
  if (is_one) {
    std::fputs(text_of(texts, number).c_str(), stdout);
    std::fflush(stdout);
    return run(text_of(texts, number), number) ? 0 : 1;
  }
  int failed = 0;
  for (std::size_t i = 0; i < texts.size() + number; ++i) failed += !run(text_of(texts, i), i);
  std::printf("%zu texts of the corpora and %zu mutations of them\n", texts.size(), number);
  return failed == 0 ? 0 : 1;
}
