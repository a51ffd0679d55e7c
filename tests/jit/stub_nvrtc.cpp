// A libnvrtc that compiles nothing: a cubin is "cubin of " and the source, and a source that has the words
// "does not compile" does not. STUB_NVRTC_VERSION, as 13.0, is its version. It counts what it compiles.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

struct Stub {
  std::string source, log, symbol;
};
Stub* of(void* program) {
  return static_cast<Stub*>(program);
}
int give(const std::string& text, std::size_t* size) {
  *size = text.size();
  return 0;
}
int give(const std::string& text, char* to) {
  std::memcpy(to, text.data(), text.size());
  return 0;
}
std::string cubin(void* program) {
  return "cubin of " + of(program)->source;
}

}  // namespace

extern "C" {

int stub_nvrtc_compiled = 0;

int nvrtcVersion(int* major, int* minor) {
  const char* const version = std::getenv("STUB_NVRTC_VERSION");
  return std::sscanf(version != nullptr ? version : "13.0", "%d.%d", major, minor) == 2 ? 0 : 1;
}
int nvrtcCreateProgram(void** program, const char* source, const char*, int, const char* const*,
                       const char* const*) {
  *program = new Stub{source, {}, {}};
  return 0;
}
int nvrtcDestroyProgram(void** program) {
  delete of(*program);
  *program = nullptr;
  return 0;
}
int nvrtcAddNameExpression(void*, const char*) {
  return 0;
}
int nvrtcCompileProgram(void* program, int, const char* const*) {
  ++stub_nvrtc_compiled;
  if (of(program)->source.find("does not compile") == std::string::npos) return 0;
  of(program)->log = "epilogue(1): warning: a remark\nepilogue(2): error: this line\n1 error detected\n";
  return 6;
}
int nvrtcGetLoweredName(void* program, const char* expression, const char** symbol) {
  of(program)->symbol = std::string("symbol of ") + expression;
  *symbol = of(program)->symbol.c_str();
  return 0;
}
const char* nvrtcGetErrorString(int) {
  return "NVRTC_ERROR_OF_STUB";
}
int nvrtcGetProgramLogSize(void* program, std::size_t* size) {
  return give(of(program)->log, size);
}
int nvrtcGetProgramLog(void* program, char* text) {
  return give(of(program)->log, text);
}
int nvrtcGetCUBINSize(void* program, std::size_t* size) {
  return give(cubin(program), size);
}
int nvrtcGetCUBIN(void* program, char* text) {
  return give(cubin(program), text);
}
int nvrtcGetPTXSize(void* program, std::size_t* size) {
  return give(cubin(program), size);
}
int nvrtcGetPTX(void* program, char* text) {
  return give(cubin(program), text);
}
}
