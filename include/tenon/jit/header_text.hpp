// The text of all headers that a source includes, as a digest: a kernel of the cubin cache is one of these
// headers as they are. Host code. Below: file.hpp, program.hpp, sha256.hpp.
#pragma once

#include "tenon/needs_host.hpp"

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/jit/file.hpp"
#include "tenon/jit/program.hpp"
#include "tenon/jit/sha256.hpp"

namespace tenon::jit {

// The headers that a program includes, directly or through others, under whatever condition: more than the
// compiler reads, and never fewer, unless a macro names one. A header that no folder has is left out, like
// the ones built into NVRTC.
class HeaderText {
 public:
  explicit HeaderText(const Program& program) : folders_(program.include_folders) {
    follow(program.source, "");
    for (std::size_t i = 0; i < paths_.size(); ++i) {
      const std::string path = paths_[i];
      std::string text;
      if (read_file(path, &text) != 0) continue;
      digest_.add_field(text);
      follow(text, path.substr(0, path.rfind('/')));
    }
  }
  Digest digest() noexcept { return digest_.digest(); }
  std::size_t count() const noexcept { return paths_.size(); }
  // "" where none of the program's folders has it.
  static std::string find(const std::string& name, const std::vector<std::string>& folders) {
    for (const std::string& folder : folders) {
      std::string path = folder + "/" + name;
      if (access(path.c_str(), R_OK) == 0 && !is_folder(path)) return path;
    }
    return "";
  }

 private:
  // Notes what a text includes. own: the folder of its file, where quoted names are looked for first.
  void follow(std::string_view text, const std::string& own) {
    for (std::size_t at = text.find('#'); at != std::string_view::npos; at = text.find('#', at + 1)) {
      std::size_t end = text.find_first_not_of(" \t", at + 1);
      constexpr std::string_view include = "include";
      if (end == std::string_view::npos || text.substr(end, include.size()) != include) continue;
      end = text.find_first_not_of(" \t", end + include.size());
      if (end == std::string_view::npos || (text[end] != '"' && text[end] != '<')) continue;
      const char closing = text[end] == '<' ? '>' : '"';
      const std::size_t close = text.find_first_of(closing == '>' ? ">\n" : "\"\n", end + 1);
      if (close == std::string_view::npos || text[close] != closing) continue;
      note(std::string(text.substr(end + 1, close - end - 1)), closing == '"' ? own : "");
    }
  }
  void note(const std::string& name, const std::string& own) {
    // Each name once: where it lies depends on the folder of the header that includes it if it is quoted.
    if (!names_.insert(own + '\n' + name).second) return;
    std::string path = own.empty() ? "" : find(name, {own});
    if (path.empty()) path = find(name, folders_);
    if (path.empty() || !found_.insert(path).second) return;
    digest_.add_field(name);
    paths_.push_back(std::move(path));
  }

  const std::vector<std::string>& folders_;
  std::set<std::string> names_, found_;
  std::vector<std::string> paths_;
  Sha256 digest_;
};

}  // namespace tenon::jit
