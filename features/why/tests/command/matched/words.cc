// A program of C++ for the matching of functions: a map, sorting, a regular expression, strings, templates with two types, a class
// with constructors and a virtual destructor, and functions that nobody else can see. It prints one number.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <regex>
#include <string>
#include <vector>

namespace words {

class Shape {
  public:
    explicit Shape(int size) : size(size), name("shape") {}
    virtual ~Shape() { total += size; }
    virtual int area() const { return size; }
    static long total;

  protected:
    int size;
    std::string name;
};
long Shape::total = 0;

class Square : public Shape {
  public:
    explicit Square(int size) : Shape(size) { name += " with corners"; }
    int area() const override { return size * size + static_cast<int>(name.size()); }
};

template <typename Number> __attribute__((noinline)) Number mixed(const std::vector<Number> &all) {
    Number sum = 1;
    for (Number one : all)
        sum = sum * 31 + (one ^ (sum >> 3));
    return sum;
}

} // namespace words

namespace {

unsigned state = 12345;

unsigned next() {
    state = state * 1103515245 + 12345;
    return state >> 16;
}

__attribute__((noinline)) std::string word() {
    std::string made;
    for (unsigned left = 2 + next() % 6; left; left--)
        made += static_cast<char>('a' + next() % 26);
    return made;
}

} // namespace

static __attribute__((noinline)) std::map<std::string, int> count(int number) {
    std::map<std::string, int> counts;
    for (int place = 0; place < number; place++)
        counts[word().substr(0, 2)]++;
    return counts;
}

static __attribute__((noinline)) long sorted(const std::map<std::string, int> &counts) {
    std::vector<std::pair<int, std::string>> all;
    for (const auto &entry : counts)
        all.emplace_back(entry.second, entry.first);
    std::sort(all.begin(), all.end(), [](const auto &one, const auto &other) {
        return one.first != other.first ? one.first > other.first : one.second < other.second;
    });
    long sum = 0;
    for (std::size_t place = 0; place < all.size(); place++)
        sum += static_cast<long>(place) * all[place].first + all[place].second[0];
    return sum;
}

static __attribute__((noinline)) long matching(int number) {
    const std::regex pattern("([a-m]+)([n-z]*)x?");
    long found = 0;
    for (int place = 0; place < number; place++) {
        std::smatch parts;
        const std::string text = word();
        if (std::regex_match(text, parts, pattern))
            found += parts[1].length();
    }
    return found;
}

static __attribute__((noinline)) long shapes(int number) {
    std::vector<std::unique_ptr<words::Shape>> all;
    for (int place = 0; place < number; place++)
        all.push_back(place % 2 ? std::make_unique<words::Square>(place) : std::make_unique<words::Shape>(place));
    long sum = 0;
    for (const auto &shape : all)
        sum += shape->area();
    all.clear();
    return sum + words::Shape::total;
}

int main(int, char **arguments) {
    const int number = arguments[1] ? std::atoi(arguments[1]) : 300;
    std::vector<unsigned> small(number, 7);
    std::vector<unsigned long> large(number, 9);
    unsigned long sum = words::mixed(small) + words::mixed(large);
    sum += sorted(count(10 * number)) + matching(number) + shapes(number);
    std::printf("%lu\n", sum);
}
