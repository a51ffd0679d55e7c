// tenon, the command: multiply matrices, print layouts, list kernels, describe the machine.
//
// Results go to stdout, sentences about what went wrong to stderr. With --json standard output is one JSON
// document, which holds the error if the command fails. The exit status is that of exit_status.hpp.
#include <algorithm>
#include <exception>
#include <iostream>
#include <new>
#include <numeric>
#include <string>
#include <vector>

#include "command_line/commands.hpp"
#include "command_line/exit_status.hpp"
#include "command_line/options.hpp"
#include "command_line/print_json.hpp"
#include "command_line/text_file.hpp"
#include "microbench/standard_output.hpp"
#include "tenon/tenon.h"

namespace tenon::command {
namespace {

constexpr const char* exit_statuses =
    "Exit status: 0 done and correct, 1 wrong result or a fault found by the emulator, 2 bad usage or input, "
    "3 this machine cannot.";

// The --help of each command ends with them, unless it says what they mean there.
void add_exit_statuses(CLI::App& application) {
  for (CLI::App* command : application.get_subcommands({})) {
    add_exit_statuses(*command);
    const std::string footer = command->get_footer();
    if (footer.find("Exit status: ") == std::string::npos) command->footer(footer + "\n" + exit_statuses);
  }
}

void add_commands(CLI::App& application) {
  application.require_subcommand(1);
  application.set_version_flag("--version", std::string("tenon ") + tenon_version(),
                               "Print the version and exit");
  application.footer(
      std::string(exit_statuses) +
      "\n"
      "With --json a failure prints {\"error\": {\"code\", \"message\"}} on standard output, in the answer "
      "where there "
      "is one; code is wrong_result, bad_input or machine_cannot.\n"
      "`tenon COMMAND --help` and `tenon help COMMAND` show the options and examples of a command.");
  add_gemm(application);
  add_attention(application);
  add_ladder(application);
  add_emulate(application);
  add_layout(application);
  add_list(application);
  add_info(application);
  add_doctor(application);
  add_tune(application);
  add_precision(application);
  refuse_mistaken_values(application);
  add_exit_statuses(application);
}

// Letters to insert, delete or replace that make one word of the other (Levenshtein).
std::size_t distance(const std::string& from, const std::string& to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t replaced = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

// CLI11 would only say that a subcommand is required, even if its name is misspelt.
void check_command(const CLI::App& application, const std::vector<std::string>& arguments) {
  std::string commands, closest;
  std::size_t least = 3;  // further away it is another word
  const std::string given = arguments.empty() ? "" : arguments.front();
  for (const CLI::App* command : application.get_subcommands({})) {
    const std::string& name = command->get_name();
    if (given == name) return;
    commands += name + ", ";
    if (const std::size_t away = distance(given, name); away < std::min(least, name.size() - 1)) {
      least = away;
      closest = name;
    }
  }
  commands += "help";
  if (arguments.empty()) refuse("give a command, one of " + commands);
  if (given[0] != '-') {
    refuse("there is no command '" + shortened(given) + "'" +
           (closest.empty() ? "" : " (is " + closest + " meant?)") + "; there are " + commands);
  }
  if (given != "-h" && given != "--help" && given != "--version")
    refuse("found '" + shortened(given) + "' where a command is needed, one of " + commands);
}

// CLI11 drops what is empty between two commas: 5,,1 would be two lengths, not three.
void check_lists(const CLI::App& application, const std::vector<std::string>& arguments) {
  const CLI::App* const command = application.get_subcommand(arguments.front());
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::size_t equals = arguments[i].find('=');
    const std::string name = arguments[i].substr(0, equals);
    const CLI::Option* const option = command->get_option_no_throw(name);
    if (option == nullptr || option->get_delimiter() != ',') continue;
    std::string list;
    if (equals != std::string::npos) {
      list = arguments[i].substr(equals + 1);
    } else if (i + 1 < arguments.size()) {
      list = arguments[i + 1];
    }
    if (!list.empty() && ("," + list + ",").find(",,") != std::string::npos)
      refuse(name + " is '" + shortened(list) + "' but must have a number on each side of a comma");
  }
}

// `tenon help gemm` is `tenon gemm --help`.
std::vector<std::string> arguments_of(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + std::max(argc, 1));
  if (!arguments.empty() && arguments.front() == "help") {
    arguments.erase(arguments.begin());
    arguments.emplace_back("--help");
  }
  // With nothing after '=' CLI11 takes the next argument, which is often another option.
  for (const std::string& argument : arguments) {
    if (argument.compare(0, 2, "--") == 0 && argument.find('=') == argument.size() - 1)
      refuse(shortened(argument) + " ends where its value must follow");
  }
  return arguments;
}

// What CLI11 says of wrong arguments, in plainer words where it has none.
std::string told(const CLI::ParseError& error) {
  const std::string twice = ": At Most 1 required but received ";
  std::string text = error.what();
  const std::size_t at = text.find(twice);
  if (at == std::string::npos) return text;
  return text.substr(0, at) + " is given " + text.substr(at + twice.size()) + " times but must be given once";
}

// Whether a script reads standard output: CLI11 may not have come as far as the option.
bool wants_json(int argc, char** argv) {
  return std::any_of(argv, argv + argc, [](const std::string& argument) {
    return argument == "--json" || argument.compare(0, 7, "--json=") == 0;
  });
}

Exit run(int argc, char** argv) {
  CLI::App application("Matrix products on tensor cores: run, check, time and inspect the kernels of tenon.",
                       "tenon");
  add_commands(application);
  try {
    std::vector<std::string> arguments = arguments_of(argc, argv);
    check_command(application, arguments);
    if (!arguments.empty() && arguments.front()[0] != '-') check_lists(application, arguments);
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
    application.parse(arguments);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) refuse(told(error) + "\nRun with --help for usage.");
    application.exit(error);  // --help, --version
  }
  print_json_answer();
  if (const std::string lost = microbench::lost_standard_output(); !lost.empty())
    throw Failure(Exit::machine_cannot, lost);
  return Exit::ok;
}

}  // namespace
}  // namespace tenon::command

int main(int argc, char** argv) {
  using namespace tenon::command;
  tenon::microbench::keep_standard_descriptors();
  Exit status = Exit::machine_cannot;
  std::string sentence;
  try {
    return static_cast<int>(run(argc, argv));
  } catch (const Failure& failure) {
    status = failure.status();
    sentence = failure.what();
  } catch (const std::bad_alloc&) {
    sentence = "this machine has too little memory for matrices of this size";
  } catch (const std::exception& error) {
    sentence = error.what();
  }
  if (wants_json(argc, argv)) print_json_error(status, sentence);
  std::cout.flush();
  std::cerr << "tenon: " << sentence << "\n";
  return static_cast<int>(status);
}
