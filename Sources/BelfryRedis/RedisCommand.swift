package import BelfryBytes

/// A command in the form that Redis reads: its name and byte arguments. Each argument is encoded when it is appended, so
/// sending the command is a copy.
///
/// The same type stands for a command that is written straight into an ``OutputBuffer``. It then owns the bytes of the
/// buffer until its last argument is there, and nothing is copied.
package struct RedisCommand: Sendable, Hashable {
  /// The first argument. Errors and logs call the command by it.
  package let name: String
  private var argumentCount = 0
  /// `$<length>\r\n<bytes>\r\n` for each argument, the name included, from `start` on.
  private var encodedArguments: [UInt8] = []
  /// The count of bytes of earlier commands; 0 for a command that has its own memory.
  private let start: Int

  package init(_ name: String, _ arguments: any RedisArgument...) {
    self.name = name
    start = 0
    encodedArguments.reserveCapacity(Self.usualBytes)
    append(name)
    for argument in arguments {
      argument.append(to: &self)
    }
  }

  /// A command behind earlier ones in the same memory. Its head `*<count>\r\n` comes first and says how many arguments
  /// follow, so room is left for a count of two digits.
  init(_ name: String, behind earlier: [UInt8]) {
    self.name = name
    start = earlier.count
    encodedArguments = earlier
    encodedArguments.append("*00\r\n" as StaticString)
    append(name)
  }

  /// The bytes that were there before, with the finished command behind them.
  mutating func takeEncoded() -> [UInt8] {
    if (10...99).contains(argumentCount) {
      encodedArguments[start + 1] += UInt8(truncatingIfNeeded: argumentCount / 10)
      encodedArguments[start + 2] += UInt8(truncatingIfNeeded: argumentCount % 10)
    } else {
      var head: [UInt8] = []
      head.append(length: argumentCount, "*")
      encodedArguments.replaceSubrange(start..<start + 5, with: head)
    }
    let encoded = encodedArguments
    encodedArguments = []
    return encoded
  }

  /// Memory for most commands, so that they need not grow.
  private static let usualBytes = 160

  package mutating func append(_ argument: some RedisArgument) {
    argument.append(to: &self)
  }

  // The types that most arguments have get functions of their own. A generic function is not specialized in other modules.
  package mutating func append(_ text: String) {
    beginArgument(byteCount: text.utf8.count)
    encodedArguments.append(text)
    encodedArguments.appendLineEnd()
  }
  package mutating func append(_ number: Int) { append(Int64(number)) }
  package mutating func append(_ number: Int64) {
    var text = DecimalText()
    text.prepend(number)
    append(text)
  }

  package mutating func append(_ text: DecimalText) {
    beginArgument(byteCount: text.count)
    text.append(to: &encodedArguments)
    encodedArguments.appendLineEnd()
  }

  package mutating func append(_ text: HexadecimalText) {
    beginArgument(byteCount: text.count)
    text.append(to: &encodedArguments)
    encodedArguments.appendLineEnd()
  }

  /// Appends one argument that consists of four parts, as a key does.
  package mutating func append(joining first: String, _ second: String, _ third: String, _ fourth: String) {
    beginArgument(
      byteCount: first.utf8.count + second.utf8.count + third.utf8.count + fourth.utf8.count)
    encodedArguments.append(first)
    encodedArguments.append(second)
    encodedArguments.append(third)
    encodedArguments.append(fourth)
    encodedArguments.appendLineEnd()
  }

  package mutating func append(contentsOf arguments: some Sequence<some RedisArgument>) {
    for argument in arguments {
      argument.append(to: &self)
    }
  }

  package mutating func append(_ bytes: [UInt8]) {
    beginArgument(byteCount: bytes.count)
    encodedArguments.append(contentsOf: bytes)
    encodedArguments.appendLineEnd()
  }

  /// Appends one argument of any bytes. Its length stands before it, so nothing is escaped.
  package mutating func append(bytes: some Collection<UInt8>) {
    beginArgument(byteCount: bytes.count)
    encodedArguments.append(contentsOf: bytes)
    encodedArguments.appendLineEnd()
  }

  private mutating func beginArgument(byteCount: Int) {
    argumentCount += 1
    encodedArguments.append(length: byteCount, "$")
  }
}

extension RedisCommand {
  /// The bytes of each argument, with the name as the first.
  package var arguments: [ArraySlice<UInt8>] {
    var arguments: [ArraySlice<UInt8>] = []
    var rest = encodedArguments[...]
    while let lineEnd = rest.firstIndex(of: UInt8(ascii: "\n")) {
      let length = Int(String(decoding: rest[(rest.startIndex + 1)..<(lineEnd - 1)], as: UTF8.self)) ?? 0
      arguments.append(rest[(lineEnd + 1)..<(lineEnd + 1 + length)])
      rest = rest[(lineEnd + 1 + length + 2)...]
    }
    return arguments
  }

  /// One of the arguments, the name being the first; nil if there are fewer.
  func argument(_ wanted: Int) -> ArraySlice<UInt8>? {
    var place = encodedArguments.startIndex
    for index in 0...wanted {
      guard let lineEnd = encodedArguments[place...].firstIndex(of: UInt8(ascii: "\n")) else { return nil }
      let length = encodedArguments[(place + 1)..<(lineEnd - 1)].reduce(0) {
        10 * $0 + Int($1 - UInt8(ascii: "0"))
      }
      if index == wanted { return encodedArguments[(lineEnd + 1)..<(lineEnd + 1 + length)] }
      place = lineEnd + 1 + length + 2
    }
    return nil
  }

  /// The size in bytes that the command has when it is sent.
  package var byteCount: Int {
    encodedArguments.count + DecimalText(lengthOf: argumentCount, "*").count
  }

  func encode(into buffer: inout [UInt8]) {
    buffer.append(length: argumentCount, "*")
    buffer.append(contentsOf: encodedArguments)
  }
}

/// A value that can be an argument of a command. Each value is exactly one argument.
package protocol RedisArgument: Sendable {
  func append(to command: inout RedisCommand)
}

extension String: RedisArgument {
  package func append(to command: inout RedisCommand) { command.append(self) }
}

extension [UInt8]: RedisArgument {
  package func append(to command: inout RedisCommand) { command.append(self) }
}

extension Int: RedisArgument {
  package func append(to command: inout RedisCommand) { command.append(self) }
}

extension Int64: RedisArgument {
  package func append(to command: inout RedisCommand) { command.append(self) }
}

/// Redis gives the cursors of scans as 64 bits without a sign.
extension UInt64: RedisArgument {
  package func append(to command: inout RedisCommand) { command.append(bytes: String(self).utf8) }
}

extension DecimalText {
  /// The line that says the length of an argument, or the count of a command's arguments.
  fileprivate init(lengthOf count: Int, _ mark: Unicode.Scalar) {
    self.init()
    prepend("\n")
    prepend("\r")
    prepend(Int64(count))
    prepend(mark)
  }
}

extension [UInt8] {
  fileprivate mutating func append(length count: Int, _ mark: Unicode.Scalar) {
    guard count < 100 else { return DecimalText(lengthOf: count, mark).append(to: &self) }
    // Nearly all lengths have one or two digits, and a command has five of these lines or more.
    append(addingCapacity: 5) { line in
      line.append(UInt8(ascii: mark))
      if count >= 10 { line.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: count / 10)) }
      line.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: count % 10))
      line.append(UInt8(ascii: "\r"))
      line.append(UInt8(ascii: "\n"))
    }
  }

  fileprivate mutating func appendLineEnd() {
    append(UInt8(ascii: "\r"))
    append(UInt8(ascii: "\n"))
  }
}
