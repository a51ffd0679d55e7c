// PTX that nvcc compiles from the files in corpus/: facts about it, and no instruction is lost or invented.
#include <fstream>
#include <set>
#include <sstream>

#include "emulator/ptx/parse.hpp"

namespace tenon::emulator::ptx::test {
namespace {

std::string read(const std::string& name) {
  std::ifstream file(std::string(TENON_PTX_CORPUS) + "/" + name + ".ptx");
  EXPECT_TRUE(file.good()) << name;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// The opcodes of a text, by rules independent of the parser: a statement ends in `;`; labels, guards, braces
// and words that begin with a dot are dropped.
std::vector<std::string> opcodes(std::string text) {
  text.erase(std::min(text.find("\t.section"), text.size()));
  std::stringstream lines(text);
  std::string code;
  for (std::string line; std::getline(lines, line);) {
    line.erase(std::min(line.find("//"), line.size()));
    const std::size_t first = line.find_first_not_of(" \t");
    if (first == std::string::npos) continue;
    const std::string begin = line.substr(first, 5);
    // Lines that are not statements: .loc and .file have no `;`, heads of functions end in a brace.
    if (begin.substr(0, 4) == ".loc" || begin == ".file") continue;
    code += line + " ";
  }
  std::vector<std::string> result;
  std::stringstream statements(code);
  for (std::string statement; std::getline(statements, statement, ';');) {
    // The last brace that is not of an operand ends a head or a scope.
    std::stringstream words(statement);
    std::string word;
    while (words >> word) {
      if (word == "{" || word == "}" || word.back() == ':' || word[0] == '@') continue;
      if (word[0] == '.' || word[0] == '(') {
        const std::size_t brace = statement.find(" { ", static_cast<std::size_t>(words.tellg()));
        if (word == ".reg" || brace == std::string::npos) break;
        words.seekg(static_cast<std::streamoff>(brace));
        continue;
      }
      if (word.substr(0, 9) != "prototype") result.push_back(word);
      break;
    }
  }
  return result;
}

std::vector<std::string> opcodes(const Module& module) {
  std::vector<std::string> result;
  for (const Function& function : module.functions) {
    for (const Instruction& instruction : function.body) result.push_back(instruction.text());
  }
  return result;
}

const Function& function(const Module& module, const std::string& part) {
  for (const Function& f : module.functions) {
    if (f.name.find(part) != std::string::npos) return f;
  }
  throw Error(0, "no function " + part);
}

int count(const Function& function, const std::string& text) {
  int result = 0;
  for (const Instruction& instruction : function.body) result += instruction.text() == text;
  return result;
}

// Every instruction's operands name what exists.
void check(const Module& module) {
  bool has_source = false;
  for (const Function& f : module.functions) {
    for (const auto& [label, index] : f.labels) EXPECT_LE(index, static_cast<int>(f.body.size())) << label;
    for (const Instruction& instruction : f.body) {
      EXPECT_GT(instruction.line, 0);
      // The line may be 0: code that the compiler merged from several lines.
      EXPECT_EQ(module.files.count(instruction.source.file), 1U)
          << instruction.text() << " in line " << instruction.line;
      has_source |= instruction.source.line > 0;
      if (instruction.opcode == "bra") {
        const auto& target = std::get<Symbol>(instruction.operands.at(0).value).name;
        EXPECT_EQ(f.labels.count(target), 1U) << target;
      }
    }
    std::set<std::string> names;
    for (const Variable& variable : f.variables)
      EXPECT_TRUE(names.insert(variable.name).second) << variable.name;
  }
  EXPECT_TRUE(has_source);
}

class Corpus : public testing::TestWithParam<std::string> {};

TEST_P(Corpus, LosesNoInstruction) {
  const std::string text = read(GetParam());
  const Module module = parse(text);
  check(module);
  EXPECT_EQ(opcodes(module), opcodes(text));
  EXPECT_GT(opcodes(text).size(), 40U);
}
INSTANTIATE_TEST_SUITE_P(Nvcc, Corpus, testing::Values("language", "cooperation", "tensor_copy"));

TEST(Language, HasTables) {
  const Module module = parse(read("language"));
  EXPECT_EQ(module.target, "sm_80");
  const auto variable = [&](const std::string& name) {
    for (const Variable& v : module.variables) {
      if (v.name == name) return v;
    }
    throw Error(0, "no variable " + name);
  };
  EXPECT_EQ(variable("factors").space, Space::constant);
  EXPECT_EQ(variable("factors").initial.size(), 16U);
  EXPECT_EQ(variable("counters").size(), 32);
  EXPECT_EQ(variable("counters").initial.at(4), 2);
  EXPECT_EQ(variable("first_counter").addresses.at(0).addend, 4);
  EXPECT_TRUE(variable("first_counter").addresses.at(0).is_generic);
  EXPECT_EQ(variable("functions").addresses.size(), 2U);
  const Variable entries = variable("entries");
  EXPECT_EQ(entries.size(), 48);
  EXPECT_EQ(entries.addresses.at(0).offset, 8);
  EXPECT_EQ(entries.addresses.at(0).symbol, "factors");
  EXPECT_EQ(entries.initial.at(47), 0x80);  // the sign of -0.0
}

TEST(Language, HasCallsOfEveryKind) {
  const Module module = parse(read("language"));
  const Function& fibonacci = function(module, "fibonacci");
  int recursive = 0;
  for (const Instruction& i : fibonacci.body) {
    if (i.opcode != "call") continue;
    EXPECT_EQ(i.text(), "call.uni");
    ASSERT_EQ(i.operands.size(), 3U);
    recursive += std::get<Symbol>(i.operands[1].value).name == fibonacci.name;
  }
  EXPECT_GE(recursive, 1);
  EXPECT_EQ(fibonacci.results.at(0).size(), 4);
  EXPECT_EQ(function(module, "scaled").results.at(0).size(), 48);

  const Function& calls = function(module, "calls");
  EXPECT_EQ(calls.max_threads[0], 256);
  EXPECT_EQ(calls.parameters.at(1).size(), 48);
  int indirect = 0;
  for (const Instruction& i : calls.body) {
    if (i.opcode != "call" || !std::holds_alternative<Register>(i.operands.at(1).value)) continue;
    ++indirect;
    const Function& prototype = calls.prototypes.at(std::get<Symbol>(i.operands.at(3).value).name);
    EXPECT_EQ(prototype.parameters.size(), 1U);
    EXPECT_EQ(prototype.results.size(), 1U);
  }
  EXPECT_EQ(indirect, 1);
  EXPECT_EQ(calls.variables.at(0).space, Space::local);
}

TEST(Language, HasAJumpTable) {
  const Module module = parse(read("language"));
  const Function& jumps = function(module, "jumps");
  int branches = 0;
  for (const Instruction& i : jumps.body) {
    if (i.opcode != "brx") continue;
    ++branches;
    const auto& targets = jumps.branch_targets.at(std::get<Symbol>(i.operands.at(1).value).name);
    EXPECT_EQ(targets.size(), 10U);
    for (const std::string& target : targets) EXPECT_EQ(jumps.labels.count(target), 1U) << target;
  }
  EXPECT_EQ(branches, 1);
}

TEST(Cooperation, HasSharedMemoryAndWarpInstructions) {
  const Module module = parse(read("cooperation"));
  bool has_dynamic = false;
  for (const Variable& v : module.variables)
    has_dynamic |= v.is_external && v.space == Space::shared && v.size() == 0;
  EXPECT_TRUE(has_dynamic);
  const Function& reduce = function(module, "reduce");
  EXPECT_EQ(reduce.variables.at(0).size(), 4 * 33 * 8);
  EXPECT_GE(count(reduce, "shfl.sync.down.b32") + count(reduce, "shfl.sync.bfly.b32"), 2);
  EXPECT_EQ(count(reduce, "match.any.sync.b32"), 1);
  EXPECT_GE(count(reduce, "bar.sync") + count(reduce, "barrier.sync"), 1);
  EXPECT_EQ(count(reduce, "atom.global.cas.b32"), 1);

  const Function& multiply = function(module, "multiply");
  ASSERT_EQ(count(multiply, "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32"), 1);
  for (const Instruction& i : multiply.body) {
    if (i.text() != "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32") continue;
    for (const Operand& operand : i.operands) EXPECT_EQ(std::get<Vector>(operand.value).elements.size(), 8U);
  }
}

TEST(TensorCopy, HasAClusterMapsAndBarriers) {
  const Module module = parse(read("tensor_copy"));
  EXPECT_EQ(module.target, "sm_90a");
  const Function& copy = function(module, "copy");
  EXPECT_EQ(copy.required_cluster[0], 2);
  EXPECT_TRUE(copy.explicit_cluster);
  EXPECT_EQ(copy.parameters.at(0).size(), 128);
  EXPECT_EQ(copy.parameters.at(0).alignment, 128);
  int loads = 0;
  for (const Instruction& i : copy.body) {
    if (i.text().find("cp.async.bulk.tensor.2d.shared::cluster.global") != 0) continue;
    ++loads;
    EXPECT_EQ(std::get<TensorAddress>(i.operands.at(1).value).coordinates.size(), 2U);
    EXPECT_EQ(i.operands.size(), i.modifiers.back() == "multicast::cluster" ? 4U : 3U);
  }
  EXPECT_EQ(loads, 2);
  EXPECT_EQ(count(copy, "elect.sync"), 1);
  EXPECT_EQ(count(copy, "mbarrier.try_wait.parity.shared::cta.b64"), 1);
}

}  // namespace
}  // namespace tenon::emulator::ptx::test
