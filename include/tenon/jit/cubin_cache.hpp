// Compiled kernels in a folder, a file each. A file is whole or it counts as none: it has a checksum, and it
// is renamed into place. Nothing here fails: what goes wrong is a sentence for the caller to show. Host code.
// Below: file.hpp, program.hpp, sha256.hpp.
#pragma once

#include "tenon/needs_host.hpp"

#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "tenon/jit/file.hpp"
#include "tenon/jit/program.hpp"
#include "tenon/jit/sha256.hpp"

namespace tenon::jit {

class CubinCache {
 public:
  // Changes with the layout of the files and with what a key is made of.
  static constexpr std::string_view magic = "tenon cubin cache 1\n";

  // folder: made when the first kernel is stored; empty: nothing is cached.
  explicit CubinCache(std::string folder) : folder_(std::move(folder)) {}

  std::string path_of(const Digest& key) const { return folder_ + "/" + hexadecimal(key) + ".cubin"; }

  // False where there is none. *note: why, unless there just is none yet.
  bool load(const Digest& key, std::size_t kernels, Cubin* cubin, std::string* note) const {
    if (folder_.empty()) return false;
    const std::string path = path_of(key);
    std::string text;
    if (const int error = read_file(path, &text); error != 0) {
      if (error != ENOENT) *note = path + " of the cubin cache cannot be read: " + std::strerror(error);
      return false;
    }
    if (unpack(text, key, kernels, cubin)) return true;
    *note = path + " of the cubin cache is damaged: the kernel is compiled again";
    return false;
  }

  void store(const Digest& key, const Cubin& cubin, std::string* note) const {
    if (folder_.empty()) return;
    int error = make_folders(folder_);
    if (error == 0) error = replace_file(path_of(key), pack(key, cubin));
    if (error != 0)
      *note = "the kernel cannot be stored in the cubin cache " + folder_ + ": " + std::strerror(error);
  }

  // A file: magic, key, the symbols, the cubin, and the digest of all before it.
  static std::string pack(const Digest& key, const Cubin& cubin) {
    std::string text(magic);
    text.append(characters(key));
    for (const std::string& symbol : cubin.symbols) append_field(symbol, &text);
    append_field(cubin.bytes, &text);
    text.append(characters(Sha256().add(text).digest()));
    return text;
  }
  static bool unpack(std::string_view text, const Digest& key, std::size_t kernels, Cubin* cubin) {
    if (text.size() < magic.size() + 2 * sizeof(Digest)) return false;
    const std::string_view body = text.substr(0, text.size() - sizeof(Digest));
    if (characters(Sha256().add(body).digest()) != text.substr(body.size())) return false;
    if (body.substr(0, magic.size()) != magic) return false;
    if (body.substr(magic.size(), sizeof(Digest)) != characters(key)) return false;
    std::string_view left = body.substr(magic.size() + sizeof(Digest));
    cubin->symbols.assign(kernels, "");
    for (std::string& symbol : cubin->symbols) {
      if (!take_field(&left, &symbol)) return false;
    }
    return take_field(&left, &cubin->bytes) && left.empty();
  }

 private:
  static std::string_view characters(const Digest& digest) {
    return {reinterpret_cast<const char*>(digest.data()), digest.size()};
  }
  static void append_field(std::string_view field, std::string* text) {
    const std::uint64_t size = field.size();
    text->append(reinterpret_cast<const char*>(&size), sizeof size).append(field);
  }
  static bool take_field(std::string_view* left, std::string* field) {
    std::uint64_t size;
    if (left->size() < sizeof size) return false;
    std::memcpy(&size, left->data(), sizeof size);
    left->remove_prefix(sizeof size);
    if (size > left->size()) return false;
    field->assign(left->substr(0, size));
    left->remove_prefix(size);
    return true;
  }

  std::string folder_;
};

// The folder that users expect caches in: tenon below $XDG_CACHE_HOME or below $HOME/.cache. Empty where
// neither is set.
inline std::string user_cache_folder() {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache != '\0') return std::string(cache) + "/tenon";
  const char* const home = std::getenv("HOME");
  return home != nullptr && *home != '\0' ? std::string(home) + "/.cache/tenon" : "";
}

}  // namespace tenon::jit
