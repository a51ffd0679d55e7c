// `tenon doctor --binary`: the program replaces itself by the script that reads machine code.
//
// Reading a binary needs a disassembler, and scripts/tenon_sass to parse its text. The scripts are installed
// beside the program (share/tenon/scripts) and need python3.
#pragma once

#include <string>
#include <vector>

namespace tenon::command {

// The folder of the scripts: TENON_SCRIPTS_PATH, else ../share/tenon/scripts of the program. Throws Failure
// (machine_cannot), naming the folder, where they are not.
std::string find_scripts();

// Becomes the script with these arguments: its output and exit status are the program's. Throws Failure where
// the machine cannot run it.
[[noreturn]] void become_script(const std::string& name, const std::vector<std::string>& arguments);

}  // namespace tenon::command
