#pragma once
#include <gflow/core/errors.hpp>
#include <gflow/core/index.hpp>
#include <gflow/io/json_file.hpp>

#include <cstdint>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

namespace gflow {

/// Reads the fields of a JSON object by name, and refuses what nobody asked for: a misspelt setting must not pass in
/// silence.
class StrictObject {
public:
    /// @param where  what the object is, for errors: "runs/a/config.json, settings"
    StrictObject(nlohmann::json object, std::string where) : object_(std::move(object)), where_(std::move(where)) {
        if (!object_.is_object()) throw io_error(where_ + ": a JSON object is needed; got " + object_.dump());
    }

    bool has(const std::string& name) const { return object_.contains(name); }

    /// The value under `name`, to be read by hand. @throws io_error if there is none
    const nlohmann::json& at(const std::string& name) {
        known_.insert(name);
        if (!has(name)) throw io_error(where_ + ": \"" + name + "\" is missing");
        return object_[name];
    }
    /// Overwrites `value` if the object has `name`. @throws io_error if it is of another type
    template <class T>
    void read(const std::string& name, T& value) {
        known_.insert(name);
        if (has(name)) value = get<T>(name);
    }
    /// The value under `name`. @throws io_error if there is none, or it is of another type
    template <class T>
    T need(const std::string& name) {
        at(name);
        return get<T>(name);
    }
    /// Leaves `name` unread without an error at finish().
    void skip(const std::string& name) { known_.insert(name); }

    /// @throws io_error naming a key that nothing has read, with those that are known
    void finish() const {
        for (const auto& [name, value] : object_.items()) {
            if (known_.count(name) > 0) continue;
            std::string all;
            for (const std::string& other : known_) all += (all.empty() ? "" : ", ") + other;
            throw io_error(where_ + ": unknown key \"" + name + "\"; known are " + all);
        }
    }

private:
    template <class T>
    T get(const std::string& name) const {
        const nlohmann::json& value = object_.at(name);
        const auto refuse = [&](const char* wanted) {
            throw io_error(where_ + ": \"" + name + "\" must be " + wanted + "; got " + value.dump());
        };
        if constexpr (std::is_same_v<T, bool>) {
            if (!value.is_boolean()) refuse("true or false");
        } else if constexpr (std::is_integral_v<T>) {
            if (!value.is_number_integer()) refuse("a whole number");
            if (value.is_number_unsigned() && value.get<std::uint64_t>() > std::uint64_t{INT64_MAX})
                if (!std::is_unsigned_v<T>) refuse("a whole number below 2⁶³");
            if (std::is_unsigned_v<T> && !value.is_number_unsigned()) refuse("a whole number of at least 0");
        } else if constexpr (std::is_floating_point_v<T>) {
            if (!value.is_number()) refuse("a number");
        } else if constexpr (std::is_same_v<T, std::string>) {
            if (!value.is_string()) refuse("text");
        } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
            if (!value.is_array()) refuse("a list of texts");
            for (const auto& item : value)
                if (!item.is_string()) refuse("a list of texts");
        } else {
            static_assert(std::is_same_v<T, std::vector<std::vector<Index>>>);
            if (!value.is_array()) refuse("a list of lists of whole numbers");
            for (const auto& list : value) {
                if (!list.is_array()) refuse("a list of lists of whole numbers");
                for (const auto& item : list)
                    if (!item.is_number_integer()) refuse("a list of lists of whole numbers");
            }
        }
        return value.get<T>();
    }

    nlohmann::json object_;
    std::string where_;
    std::set<std::string> known_;
};

}  // namespace gflow
