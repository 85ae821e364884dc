// What the tables of test_cann_opdef_language.py need of OpDef. Show() prints each chip with its policy.
#include <algorithm>
#include <array>
#include <cfloat>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace ge {
enum DataType { DT_FLOAT, DT_FLOAT16, DT_INT8, DT_INT32, DT_BOOL, DT_BF16 };
enum Format { FORMAT_NCHW, FORMAT_ND };
}

struct OpAICoreConfig {
    const char* policy = "gray";
    OpAICoreConfig() {}
    OpAICoreConfig(const char*) : policy("white") {}
    OpAICoreConfig& PrecisionReduceFlag(bool set)
    {
        policy = set ? "white" : "black";
        return *this;
    }
};

struct OpAICoreDef {
    std::map<std::string, OpAICoreConfig> configs;
    OpAICoreDef& AddConfig(const std::string& chip, OpAICoreConfig config)
    {
        configs[chip] = config;
        return *this;
    }
    OpAICoreDef& AddConfig(const std::string& chip) { return AddConfig(chip, OpAICoreConfig("")); }
};

struct OpDef {
    OpAICoreDef core;
    OpDef(const char*) {}
    OpAICoreDef& AICore() { return core; }
};

// What a header that is not read may do to what it is given.
inline void Decide(bool& flag) { flag = false; }
inline void Change(std::vector<bool>::iterator first) { *first = false; }
struct Flip {
    Flip(bool& flag) { flag = false; }
};
struct Guard {
    std::function<void()> end;
    Guard(std::function<void()> f, int) : end(f) {}
    ~Guard() { end(); }
};

#define OP_ADD(T)                                                              \
    void Show()                                                                \
    {                                                                          \
        T made(#T);                                                            \
        for (auto& each : made.core.configs)                                   \
            std::printf("%s %s\n", each.first.c_str(), each.second.policy);    \
    }
