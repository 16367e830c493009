#pragma once
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <gflow/core/errors.hpp>
#include <span>
#include <string>
#include <system_error>
#include <utility>

namespace gflow {
namespace detail {

/// What a user can do about a failed system call; empty where nothing general helps.
inline const char* io_remedy(int code) {
    switch (code) {
        case ENOSPC:
        case EDQUOT:
            return "; free some space or choose another folder";
        case EFBIG:
            return "; raise the limit on file sizes (ulimit -f) or choose another file system";
        case EACCES:
        case EPERM:
        case EROFS:
            return "; change its permissions or choose another place";
        case ENOENT:
            return "; check the path, or create the folder first";
        case ENOTDIR:
            return "; a part of the path is a file, not a folder";
        case EISDIR:
            return "; name a file, not a folder";
        case EMFILE:
        case ENFILE:
            return "; close some files or raise the limit (ulimit -n)";
        default:
            return "";
    }
}

/// Throws io_error "gflow::<op>: cannot <action> <path>: <the system's reason>; <remedy>".
[[noreturn]] inline void throw_io(const std::string& op, const char* action, const std::filesystem::path& path,
                                  int code) {
    throw io_error("gflow::" + op + ": cannot " + action + " " + path.string() + ": " +
                   std::generic_category().message(code) + io_remedy(code));
}

/// A file descriptor that is closed with its owner.
class FileDescriptor {
public:
    explicit FileDescriptor(int fd = -1) : fd_(fd) {}
    FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    FileDescriptor& operator=(FileDescriptor&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~FileDescriptor() { close(); }

    int get() const { return fd_; }
    explicit operator bool() const { return fd_ >= 0; }
    /// 0, or the error of close(2): some file systems report a full disk only here.
    int close() noexcept {
        const int fd = std::exchange(fd_, -1);
        return fd >= 0 && ::close(fd) != 0 && errno != EINTR ? errno : 0;
    }

private:
    int fd_;
};

inline FileDescriptor open_to_read(const std::filesystem::path& path, const std::string& op) {
    int fd = -1;
    do fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    while (fd < 0 && errno == EINTR);
    if (fd < 0) throw_io(op, "read", path, errno);
    return FileDescriptor(fd);
}

/// Reads from fd to its end; a pipe works as well as a file.
inline std::string read_all(int fd, const std::filesystem::path& path, const std::string& op) {
    struct stat status {};
    if (::fstat(fd, &status) != 0) throw_io(op, "read", path, errno);
    std::string text;
    std::size_t length = 0;
    text.resize(static_cast<std::size_t>(status.st_size > 0 ? status.st_size : 0) + 1);  // + 1: the end shows at once
    for (;;) {
        if (length == text.size()) text.resize(text.size() + text.size() / 2 + 4096);
        const ssize_t got = ::read(fd, text.data() + length, text.size() - length);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) throw_io(op, "read", path, errno);
        if (got == 0) break;
        length += static_cast<std::size_t>(got);
    }
    text.resize(length);
    return text;
}

}  // namespace detail

/// The bytes of a file.
/// @param op  the name that an error carries
/// @throws    io_error naming path, reason and remedy
inline std::string read_file(const std::filesystem::path& path, const std::string& op = "read_file") {
    const detail::FileDescriptor file = detail::open_to_read(path, op);
    return detail::read_all(file.get(), path, op);
}

/// A file seen as memory, read page by page as it is touched.  What is no regular file (a pipe) is read whole.
/// The file must not be shortened in place meanwhile; everything that gflow writes is replaced whole instead.
class MappedFile {
public:
    /// @throws io_error naming path, reason and remedy
    explicit MappedFile(const std::filesystem::path& path, const std::string& op = "MappedFile") {
        const detail::FileDescriptor file = detail::open_to_read(path, op);
        struct stat status {};
        if (::fstat(file.get(), &status) != 0) detail::throw_io(op, "read", path, errno);
        if (!S_ISREG(status.st_mode) || status.st_size == 0) {
            copy_ = detail::read_all(file.get(), path, op);
            return;
        }
        size_ = static_cast<std::size_t>(status.st_size);
        void* address = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.get(), 0);
        if (address == MAP_FAILED) detail::throw_io(op, "map", path, errno);
        map_ = address;
    }
    MappedFile(MappedFile&& other) noexcept
        : map_(std::exchange(other.map_, nullptr)),
          size_(std::exchange(other.size_, 0)),
          copy_(std::move(other.copy_)) {}
    MappedFile& operator=(MappedFile&& other) noexcept {
        std::swap(map_, other.map_);
        std::swap(size_, other.size_);
        std::swap(copy_, other.copy_);
        return *this;
    }
    ~MappedFile() {
        if (map_ != nullptr) ::munmap(map_, size_);
    }

    std::span<const std::byte> bytes() const {
        return map_ != nullptr ? std::span(static_cast<const std::byte*>(map_), size_)
                               : std::as_bytes(std::span<const char>(copy_.data(), copy_.size()));
    }

private:
    void* map_ = nullptr;
    std::size_t size_ = 0;
    std::string copy_;
};

}  // namespace gflow
