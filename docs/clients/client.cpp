// A client of `hloproof serve` in a page of C++17 (POSIX): a server of its own, requests, answers by id.
//
//   c++ -std=c++17 -o client client.cpp && ./client hloproof serve
//
// It looks into answers with as little JSON as its questions need; a program should take a JSON library.

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>

class Client {
 public:
  explicit Client(char** command) {
    int in[2], out[2];
    if (pipe(in) != 0 || pipe(out) != 0) throw std::runtime_error("no pipe");
    server_ = fork();
    if (server_ == 0) {
      dup2(in[0], 0);
      dup2(out[1], 1);
      for (int end : {in[0], in[1], out[0], out[1]}) close(end);
      execvp(command[0], command);
      _exit(127);
    }
    close(in[0]);
    close(out[1]);
    to_ = fdopen(in[1], "w");
    from_ = fdopen(out[0], "r");
  }

  // Sends a request and returns its id; `params` is a JSON object.
  int ask(const std::string& method, const std::string& params) {
    std::fprintf(to_, "{\"jsonrpc\": \"2.0\", \"id\": %d, \"method\": \"%s\", \"params\": %s}\n", ++last_,
                 method.c_str(), params.c_str());
    std::fflush(to_);
    return last_;
  }

  void cancel(int id) {
    std::fprintf(to_, "{\"jsonrpc\": \"2.0\", \"method\": \"$/cancel\", \"params\": {\"id\": %d}}\n", id);
    std::fflush(to_);
  }

  // The line that answers a request; those that come before it are kept for who asks.
  std::string answer(int id) {
    while (answers_.count(id) == 0) {
      std::string line = read_line();
      answers_[number(line, "\"id\":")] = line;
    }
    std::string line = answers_[id];
    answers_.erase(id);
    return line;
  }

  int close_server() {
    answer(ask("shutdown", "{}"));
    std::fclose(to_);
    int status = 0;
    waitpid(server_, &status, 0);
    return WEXITSTATUS(status);
  }

  static int number(const std::string& line, const std::string& key) {
    size_t at = line.find(key);
    return at == std::string::npos ? 0 : std::atoi(line.c_str() + at + key.size());
  }

  static std::string word(const std::string& line, const std::string& key) {
    size_t at = line.find(key + "\"");
    if (at == std::string::npos) return "";
    at += key.size() + 1;
    return line.substr(at, line.find('"', at) - at);
  }

 private:
  std::string read_line() {
    std::string line;
    for (int c = std::fgetc(from_); c != '\n'; c = std::fgetc(from_)) {
      if (c == EOF) throw std::runtime_error("the server has ended");
      line.push_back(static_cast<char>(c));
    }
    return line;
  }

  pid_t server_ = 0;
  std::FILE *to_ = nullptr, *from_ = nullptr;
  int last_ = 0;
  std::map<int, std::string> answers_;
};

int main(int, char** arguments) {
  Client client(arguments + 1);
  std::string map = "{\"map\": \"(d0) -> (d0 mod 4), domain: d0 in [0, 3]\"}";
  int version = client.ask("version", "{}");
  int one = client.ask("simplify", map), two = client.ask("simplify", map);
  client.cancel(two);
  int wrong = client.ask("parse_map", "{\"map\": \"(d0) -> (d1), domain: d0 in [0, 9]\"}");
  std::cout << "protocol " << Client::word(client.answer(version), "\"protocol\":") << "\n";
  std::cout << "verdict " << Client::word(client.answer(one), "\"verdict\":") << "\n";
  std::string other = client.answer(two);
  std::string kind = Client::word(other, "\"kind\":");
  std::cout << "the other " << (kind.empty() ? Client::word(other, "\"verdict\":") : kind) << "\n";
  std::cout << "wrong at column " << Client::number(client.answer(wrong), "\"column\":") << "\n";
  std::cout << "status " << client.close_server() << "\n";
}
