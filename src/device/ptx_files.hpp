// The PTX of the library's kernels: the files that the build keeps and installs.
#pragma once

#include <string>

#include "tenon/status.hpp"

namespace tenon {

// The folder of the PTX files: TENON_PTX_PATH if that is set; else share/tenon/ptx of the nearest folder
// above the one of the running program, which has it in a build and where it is installed. If there is none:
// device_unsupported, with the program's path.
Status find_ptx_folder(std::string* folder);

// The text of NAME.ptx in the folder; NAME may be an absolute path.
Status read_ptx(const std::string& folder, const std::string& name, std::string* text);

}  // namespace tenon
