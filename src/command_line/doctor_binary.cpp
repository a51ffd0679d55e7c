// Finds the scripts and runs one: doctor_binary.hpp.
#include "command_line/doctor_binary.hpp"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>

#include "command_line/exit_status.hpp"

namespace tenon::command {
namespace {

namespace files = std::filesystem;

constexpr const char* package = "tenon_sass";  // which the scripts import

bool holds_scripts(const files::path& folder) {
  std::error_code error;
  return files::is_directory(folder / package, error);
}

}  // namespace

std::string find_scripts() {
  if (const char* chosen = std::getenv("TENON_SCRIPTS_PATH"); chosen != nullptr && *chosen != '\0') {
    if (holds_scripts(chosen)) return chosen;
    throw Failure(Exit::machine_cannot, std::string("TENON_SCRIPTS_PATH is '") + chosen +
                                            "' but that folder does not hold the scripts (" + package + ")");
  }
  std::error_code error;
  const files::path program = files::read_symlink("/proc/self/exe", error);
  const files::path place = program.parent_path().parent_path() / "share" / "tenon" / "scripts";
  if (!error && holds_scripts(place)) return place.string();
  throw Failure(
      Exit::machine_cannot,
      "a binary is read by the scripts of tenon, which are not in " + place.string() +
          ": install the whole of tenon, or set TENON_SCRIPTS_PATH to the folder `scripts` of its source");
}

void become_script(const std::string& name, const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {"python3", "-B", (files::path(find_scripts()) / name).string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  std::cout.flush();
  execvp(pointers[0], pointers.data());
  throw Failure(Exit::machine_cannot,
                std::string("a binary is read by a script, which needs python3: ") + std::strerror(errno));
}

}  // namespace tenon::command
