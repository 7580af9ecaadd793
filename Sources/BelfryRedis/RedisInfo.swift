/// What INFO answers: a fact a line, `name:value`, in sections that have a heading.
package struct RedisInfo: Sendable {
  private var facts: [Substring: Substring] = [:]

  package init(_ text: String) {
    for line in text.split(whereSeparator: \.isNewline) {
      let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      if parts.count == 2 { facts[parts[0]] = parts[1] }
    }
  }

  package init(_ reply: RedisReply) throws(RedisError) { self.init(try reply.string()) }

  /// Nil if it says nothing of it: which facts there are differs with the version.
  package subscript(_ name: Substring) -> Substring? { facts[name] }
}
