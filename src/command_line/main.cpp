// tenon, the command: multiply matrices, print layouts, list kernels, describe the machine.
//
// Results go to stdout, sentences about what went wrong to stderr. The exit status is that of
// exit_status.hpp.
#include <exception>
#include <iostream>
#include <new>

#include "command_line/commands.hpp"
#include "command_line/exit_status.hpp"

int main(int argc, char** argv) {
  using namespace tenon::command;
  CLI::App application("Matrix products on tensor cores: run, check, time and inspect the kernels of tenon.",
                       "tenon");
  application.require_subcommand(1);
  application.footer(
      "Exit status: 0 done and correct, 1 wrong result or a fault found by the emulator, 2 bad usage or "
      "input, 3 this machine cannot.\n"
      "`tenon COMMAND --help` shows the options and examples of a command.");
  add_gemm(application);
  add_ladder(application);
  add_emulate(application);
  add_layout(application);
  add_list(application);
  add_info(application);
  add_doctor(application);
  add_tune(application);
  try {
    application.parse(argc, argv);
    std::cout.flush();
    if (!std::cout) throw Failure(Exit::machine_cannot, "standard output cannot be written");
    return static_cast<int>(Exit::ok);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return application.exit(error);  // --help
    std::cerr << "tenon: " << error.what() << "\nRun with --help for usage.\n";
    return static_cast<int>(Exit::bad_input);
  } catch (const Failure& failure) {
    std::cout.flush();
    std::cerr << "tenon: " << failure.what() << "\n";
    return static_cast<int>(failure.status());
  } catch (const std::bad_alloc&) {
    std::cerr << "tenon: this machine has too little memory for matrices of this size\n";
    return static_cast<int>(Exit::machine_cannot);
  } catch (const std::exception& error) {
    std::cerr << "tenon: " << error.what() << "\n";
    return static_cast<int>(Exit::machine_cannot);
  }
}
