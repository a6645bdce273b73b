// From the text of a request to the text of its answer.
#include "http_router.hpp"

#include <httplib.h>

#include <charconv>
#include <cstring>
#include <string_view>

#include "api_errors.hpp"

namespace ringmain::daemon {

namespace {

constexpr const char* kAnyTarget = "/";

/// A whole request to be read, and an answer to be written, in memory: nobody can make a thread wait in it.
class MemoryStream : public httplib::Stream {
public:
    explicit MemoryStream(std::string_view request) noexcept : unread_(request) {}

    bool is_readable() const override { return !unread_.empty(); }
    bool is_writable() const override { return true; }
    ssize_t read(char* bytes, size_t size) override {
        const std::size_t count = std::min(size, unread_.size());
        std::memcpy(bytes, unread_.data(), count);
        unread_.remove_prefix(count);
        return static_cast<ssize_t>(count);
    }
    ssize_t write(const char* bytes, size_t size) override {
        written_.append(bytes, size);
        return static_cast<ssize_t>(size);
    }
    void get_remote_ip_and_port(std::string&, int& port) const override { port = 0; }
    void get_local_ip_and_port(std::string&, int& port) const override { port = 0; }
    ::socket_t socket() const override { return INVALID_SOCKET; }

    [[nodiscard]] std::string take_written() noexcept { return std::move(written_); }

private:
    std::string_view unread_;
    std::string written_;
};

std::string decoded(std::string_view text) {
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        unsigned char byte = 0;
        const char* const digits = text.data() + i + 1;
        if (text[i] == '%' && text.size() - i > 2 && std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
            result += static_cast<char>(byte);
            i += 2;
        } else {
            result += text[i];
        }
    }
    return result;
}

std::vector<std::string> segments_of(std::string_view path) {
    std::vector<std::string> segments;
    while (path.starts_with('/')) {
        path.remove_prefix(1);
        const std::size_t end = std::min(path.find('/'), path.size());
        segments.push_back(decoded(path.substr(0, end)));
        path.remove_prefix(end);
    }
    if (!path.empty())
        segments.clear();  // not a path
    return segments;
}

std::map<std::string, std::string> query_of(std::string_view text) {
    std::map<std::string, std::string> query;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('&'), text.size());
        const std::string_view one = text.substr(0, end);
        const std::size_t equals = std::min(one.find('='), one.size());
        query[decoded(one.substr(0, equals))] = decoded(one.substr(std::min(equals + 1, one.size())));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return query;
}

HttpCall call_of(const httplib::Request& request) {
    HttpCall call;
    const std::string_view target = request.target;
    const std::size_t mark = std::min(target.find('?'), target.size());
    call.method = request.method == "HEAD" ? "GET" : request.method;
    call.path = segments_of(target.substr(0, mark));
    call.query = query_of(target.substr(std::min(mark + 1, target.size())));
    call.body = request.body;
    return call;
}

}  // namespace

/// cpp-httplib without its sockets: it reads a request and writes an answer where it is told to.
class HttpRouter::Server : private httplib::Server {
public:
    explicit Server(HttpRouter::Handler handler) : handler_(std::move(handler)) {
        const auto serve = [this](const httplib::Request& request, httplib::Response& response) {
            this->serve(request, response);
        };
        Get(kAnyTarget, serve);
        Put(kAnyTarget, serve);
        Post(kAnyTarget, serve);
        Patch(kAnyTarget, serve);
        Delete(kAnyTarget, serve);
        set_payload_max_length(kBodyBytesMax);
        set_error_handler([](const httplib::Request&, httplib::Response& response) {
            if (response.body.empty())
                set(response, refusal_answer({response.status, "this is no request that is served"}));
        });
    }

    std::string answer(const HttpJob& job) {
        job_ = &job;
        MemoryStream stream(job.request);
        bool closed = false;
        process_request(stream, true, closed, prepare);
        job_ = nullptr;
        return stream.take_written();
    }

private:
    // Handlers go by the target as it was sent; the library's own routes are regular expressions, which see nothing of
    // it.
    static void prepare(httplib::Request& request) {
        request.path = kAnyTarget;
        if (!request.has_header("Content-Length"))
            request.headers.emplace("Content-Length", "0");  // or the library would read to the end of the connection
    }

    static void set(httplib::Response& response, const HttpAnswer& answer) {
        response.status = answer.status;
        response.set_content(answer.body, answer.type);
    }

    void serve(const httplib::Request& request, httplib::Response& response) const {
        HttpCall call = call_of(request);
        call.peer = job_->peer;
        call.arrived = job_->arrived;
        call.called_off = &job_->called_off;
        try {
            set(response, handler_(call));
        } catch (const std::exception& error) {
            set(response, answer_to(error));
        }
    }

    HttpRouter::Handler handler_;
    static thread_local const HttpJob* job_;  // that this thread answers
};

thread_local const HttpJob* HttpRouter::Server::job_ = nullptr;

// What the library makes for itself at its first request is made here, before there are threads: ThreadSanitizer does
// not see that it guards that. No handler answers OPTIONS.
HttpRouter::HttpRouter(Handler handler) : server_(std::make_unique<Server>(std::move(handler))) {
    HttpJob first;
    first.request = "OPTIONS / HTTP/1.1\r\n\r\n";
    (void)server_->answer(first);
}
HttpRouter::~HttpRouter() = default;

std::string HttpRouter::answer(const HttpJob& job) const { return server_->answer(job); }

std::string HttpRouter::refuse(const HttpRefusal& refusal) {
    const HttpAnswer answer = refusal_answer(refusal);
    return "HTTP/1.1 " + std::to_string(answer.status) +
           " Refused\r\nConnection: close\r\nContent-Type: " + answer.type +
           "\r\nContent-Length: " + std::to_string(answer.body.size()) + "\r\n\r\n" + answer.body;
}

}  // namespace ringmain::daemon
