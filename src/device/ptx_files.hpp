// The PTX of the library's kernels: the files that the build keeps and installs.
#pragma once

#include <string>

#include "tenon/status.hpp"

namespace tenon {

// The folder that holds them: that of the environment variable TENON_PTX_PATH if it is set; else
// share/tenon/ptx beside the folder of the running program, as it is installed; else that of the build.
// device_unsupported, with the places that were looked at, if there is none.
Status find_ptx_folder(std::string* folder);

// The text of NAME.ptx in the folder; NAME may be an absolute path.
Status read_ptx(const std::string& folder, const std::string& name, std::string* text);

}  // namespace tenon
