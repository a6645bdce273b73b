// Kernel-held locks on bytes of a file, by open-file-description locks.
#include "platform/file_lock.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "platform/descriptor.hpp"

namespace ringmain::platform {

// An open file description lives as long as any process has a descriptor of it, so that a child that merely inherited
// one would keep its parent's locks after the parent's death. All descriptors therefore stand in a list, and the first
// thing a fork()ed child does is to close them.
struct FileLock::OpenFile {
    int fd;
    OpenFile* next = nullptr;
    OpenFile* previous = nullptr;

    class List {
    public:
        void add(OpenFile& file) noexcept;
        void remove(OpenFile& file) noexcept;

    private:
        static void before_fork() noexcept;  // nobody changes the list while the process is copied
        static void in_parent() noexcept;
        static void in_child() noexcept;  // async-signal-safe: close() and plain stores only
        pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
        OpenFile* first_ = nullptr;
        bool watches_forks_ = false;
    };
    static List list;  // constant-initialised: it works in static constructors too

    explicit OpenFile(int descriptor) noexcept : fd(descriptor) { list.add(*this); }
    OpenFile(const OpenFile&) = delete;
    OpenFile& operator=(const OpenFile&) = delete;
    ~OpenFile() {
        list.remove(*this);
        if (fd >= 0)
            ::close(fd);
    }
};

constinit FileLock::OpenFile::List FileLock::OpenFile::list;

void FileLock::OpenFile::List::add(OpenFile& file) noexcept {
    ::pthread_mutex_lock(&mutex_);
    if (!watches_forks_)
        watches_forks_ = ::pthread_atfork(before_fork, in_parent, in_child) == 0;
    file.next = first_;
    if (first_ != nullptr)
        first_->previous = &file;
    first_ = &file;
    ::pthread_mutex_unlock(&mutex_);
}

void FileLock::OpenFile::List::remove(OpenFile& file) noexcept {
    ::pthread_mutex_lock(&mutex_);
    (file.previous != nullptr ? file.previous->next : first_) = file.next;
    if (file.next != nullptr)
        file.next->previous = file.previous;
    ::pthread_mutex_unlock(&mutex_);
}

void FileLock::OpenFile::List::before_fork() noexcept { ::pthread_mutex_lock(&list.mutex_); }
void FileLock::OpenFile::List::in_parent() noexcept { ::pthread_mutex_unlock(&list.mutex_); }
void FileLock::OpenFile::List::in_child() noexcept {
    for (OpenFile* file = list.first_; file != nullptr; file = file->next) {
        if (file->fd >= 0)
            ::close(file->fd);
        file->fd = -1;  // the number may soon be another file's
    }
    ::pthread_mutex_unlock(&list.mutex_);
}

namespace {

struct flock one_byte(short type, std::uint64_t at) noexcept {
    struct flock lock {};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    lock.l_start = static_cast<off_t>(at);
    lock.l_len = 1;
    return lock;
}

}  // namespace

FileLock::FileLock() noexcept = default;
FileLock::FileLock(FileLock&& other) noexcept = default;
FileLock& FileLock::operator=(FileLock&& other) noexcept = default;
FileLock::~FileLock() = default;

FileLock::FileLock(const std::filesystem::path& path, Access access) {
    Descriptor file = open_file(path, (access == Access::read_write ? O_RDWR : O_RDONLY) | O_NOFOLLOW);
    file_ = std::make_unique<OpenFile>(file.get());
    (void)file.release();
}

bool FileLock::try_lock(std::uint64_t at) noexcept {
    struct flock lock = one_byte(F_WRLCK, at);
    return file_ && ::fcntl(file_->fd, F_OFD_SETLK, &lock) == 0;
}

void FileLock::unlock(std::uint64_t at) noexcept {
    struct flock lock = one_byte(F_UNLCK, at);
    if (file_)
        ::fcntl(file_->fd, F_OFD_SETLK, &lock);
}

FileIdentity FileLock::identity() const noexcept {
    struct stat status {};
    if (!file_ || ::fstat(file_->fd, &status) != 0)
        return {};
    return {status.st_dev, status.st_ino};
}

bool FileLock::held_by_other(std::uint64_t at) const noexcept {
    struct flock lock = one_byte(F_WRLCK, at);
    if (!file_ || ::fcntl(file_->fd, F_OFD_GETLK, &lock) != 0)
        return true;
    return lock.l_type != F_UNLCK;
}

}  // namespace ringmain::platform
