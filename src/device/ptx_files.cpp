// The search of ptx_files.hpp.
#include "device/ptx_files.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace tenon {
namespace {

namespace files = std::filesystem;

constexpr const char* ptx_below = "share/tenon/ptx";  // below the folder of the build or the installation

// Every build has this one.
bool holds_ptx(const files::path& folder) {
  std::error_code error;
  return files::is_regular_file(folder / "pad.ptx", error);
}

}  // namespace

Status find_ptx_folder(std::string* folder) {
  if (const char* chosen = std::getenv("TENON_PTX_PATH"); chosen != nullptr && *chosen != '\0') {
    if (!holds_ptx(chosen)) {
      return Status(
          StatusCode::device_unsupported,
          "TENON_PTX_PATH is '%.120s' but that folder does not hold the PTX of the kernels (pad.ptx)",
          chosen);
    }
    *folder = chosen;
    return {};
  }
  std::error_code error;
  const files::path program = files::read_symlink("/proc/self/exe", error);
  for (files::path above = program.parent_path(); above.has_relative_path(); above = above.parent_path()) {
    const files::path place = above.parent_path() / ptx_below;
    if (!holds_ptx(place)) continue;
    *folder = place.string();
    return {};
  }
  return Status(StatusCode::device_unsupported,
                "the emulator needs the PTX of the kernels, but no folder above %.100s has %s: set "
                "TENON_PTX_PATH",
                program.c_str(), ptx_below);
}

Status read_ptx(const std::string& folder, const std::string& name, std::string* text) {
  const files::path path = files::path(folder) / (name + ".ptx");
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return Status(StatusCode::device_unsupported, "the PTX of the kernel cannot be read: %.180s",
                  path.c_str());
  }
  text->assign(std::istreambuf_iterator<char>(file), {});
  return {};
}

}  // namespace tenon
