#pragma once
#include <atomic>
#include <gflow/io/file.hpp>
#include <optional>
#include <string_view>

namespace gflow {
namespace detail {

/// Writes all of it, or gives the error code.
inline int write_all(int fd, const char* data, std::size_t bytes) {
    while (bytes > 0) {
        const ssize_t done = ::write(fd, data, bytes);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return errno;
        data += done;
        bytes -= static_cast<std::size_t>(done);
    }
    return 0;
}

/// fsync, where the thing can be synced at all (a pipe or some network file systems cannot).
inline int sync(int fd) {
    return ::fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS ? 0 : errno;
}

/// Makes a rename inside `folder` survive a power failure.  Best effort: the data itself is safe already.
inline void sync_folder(const std::filesystem::path& folder) {
    const FileDescriptor fd(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (fd) sync(fd.get());
}

/// "runs/a/" and "runs/a" name the same folder, but only the second has siblings "runs/a.old" and "runs/a.new".
inline std::filesystem::path without_slash(const std::filesystem::path& path) {
    return path.has_filename() || !path.has_parent_path() ? path : path.parent_path();
}

inline std::filesystem::path with_suffix(const std::filesystem::path& path, const char* suffix) {
    return std::filesystem::path(without_slash(path)) += suffix;
}

}  // namespace detail

/// Writes a file beside its final place; commit() renames it, so that readers see the earlier file or the new one,
/// never a half.  Without commit() (an exception on the way) the temporary file goes and the earlier file stays.
/// A link is followed.  What is no regular file (/dev/stdout) is written straight.
class AtomicFile {
public:
    /// @param op  the name that an error carries
    /// @throws    io_error naming path, reason and remedy, here and in the members
    explicit AtomicFile(const std::filesystem::path& path, std::string op = "AtomicFile")
        : path_(path), target_(path), op_(std::move(op)) {
        std::error_code ignored;
        if (std::filesystem::is_symlink(path, ignored)) target_ = std::filesystem::weakly_canonical(path, ignored);
        if (target_.empty()) target_ = path;
        struct stat status {};
        const bool exists = ::stat(target_.c_str(), &status) == 0;
        if (exists && S_ISDIR(status.st_mode)) detail::throw_io(op_, "write", path_, EISDIR);
        if (exists && !S_ISREG(status.st_mode)) {
            file_ = detail::FileDescriptor(::open(target_.c_str(), O_WRONLY | O_CLOEXEC));
        } else {
            static std::atomic<unsigned> count{0};
            temporary_ = target_;
            temporary_ += '.' + std::to_string(::getpid()) + '-' + std::to_string(count++) + ".tmp";
            file_ = detail::FileDescriptor(::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
        }
        if (!file_) {
            const int code = errno;
            temporary_.clear();
            detail::throw_io(op_, "write", path_, code);
        }
        if (exists && !temporary_.empty() && ::fchmod(file_.get(), status.st_mode & 07777) != 0) fail(errno);
    }
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;
    ~AtomicFile() { discard(); }

    void write(const void* data, std::size_t bytes) {
        if (const int code = detail::write_all(file_.get(), static_cast<const char*>(data), bytes)) fail(code);
    }
    void write(std::string_view text) { write(text.data(), text.size()); }

    /// Puts the file into its place; nothing may be written afterwards.
    void commit() {
        if (const int code = detail::sync(file_.get())) fail(code);
        if (const int code = file_.close()) fail(code);
        if (temporary_.empty()) return;
        if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail(errno);
        temporary_.clear();
        detail::sync_folder(target_.parent_path());
    }

private:
    void discard() noexcept {
        file_.close();
        if (!temporary_.empty()) ::unlink(temporary_.c_str());
        temporary_.clear();
    }
    [[noreturn]] void fail(int code) {
        discard();
        detail::throw_io(op_, "write", path_, code);
    }

    std::filesystem::path path_, target_, temporary_;
    std::string op_;
    detail::FileDescriptor file_;
};

/// Replaces the file by these bytes, whole or not at all.
/// @throws io_error naming path, reason and remedy; the earlier file is then untouched
inline void write_file(const std::filesystem::path& path, std::string_view bytes,
                       const std::string& op = "write_file") {
    AtomicFile file(path, op);
    file.write(bytes);
    file.commit();
}

/// Creates the folder and those above it where they are missing.
/// @throws io_error naming path, reason and remedy
inline void make_directory(const std::filesystem::path& path, const std::string& op = "make_directory") {
    std::error_code failure;
    std::filesystem::create_directories(detail::without_slash(path), failure);
    if (!failure && std::filesystem::is_directory(path, failure)) return;
    detail::throw_io(op, "create folder", path, failure ? failure.value() : ENOTDIR);
}

/// Puts the finished folder `fresh` into the place of `target` ("last.new" into that of "last").  The old one waits as
/// "last.old" until the new one is in place, and comes back if that fails.  At every moment recover_directory(target)
/// names a whole folder.  Both must lie on one file system.
/// @throws io_error naming path, reason and remedy
inline void replace_directory(const std::filesystem::path& fresh, const std::filesystem::path& target) {
    const char* op = "replace_directory";
    const std::filesystem::path from = detail::without_slash(fresh), to = detail::without_slash(target);
    const std::filesystem::path old = detail::with_suffix(target, ".old");
    std::error_code failure;
    if (!std::filesystem::is_directory(from, failure))
        detail::throw_io(op, "move", fresh, failure ? failure.value() : ENOTDIR);
    detail::sync_folder(from);
    const bool replaces = std::filesystem::exists(std::filesystem::symlink_status(to, failure));
    if (replaces) {  // without `to`, `old` may be the only good one: it stays until the new one is there
        std::filesystem::remove_all(old, failure);
        if (failure) detail::throw_io(op, "remove", old, failure.value());
        if (::rename(to.c_str(), old.c_str()) != 0) detail::throw_io(op, "replace", target, errno);
    }
    if (::rename(from.c_str(), to.c_str()) != 0) {
        const int code = errno;
        if (replaces && ::rename(old.c_str(), to.c_str()) != 0) {
            // nothing is lost: recover_directory still names `old`
        }
        detail::throw_io(op, "replace", target, code);
    }
    detail::sync_folder(to.parent_path());
    std::filesystem::remove_all(old, failure);  // a rest is harmless: the next replacement removes it
}

/// The folder to read for `target`: itself, or "<target>.old" if a replacement was cut short before the new one was in
/// place.  Changes nothing, so that it may be called while another process replaces.
inline std::filesystem::path recover_directory(const std::filesystem::path& target) {
    std::error_code ignored;
    const std::filesystem::path old = detail::with_suffix(target, ".old");
    if (!std::filesystem::exists(target, ignored) && std::filesystem::is_directory(old, ignored)) return old;
    return target;
}

}  // namespace gflow
