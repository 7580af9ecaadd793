package import BelfryBytes

/// A command as Redis reads it, a name and byte arguments. Encoded while it is built, so that writing it out is a copy.
package struct RedisCommand: Sendable, Hashable {
  /// For errors and logs; it is also the first argument.
  package let name: String
  private var argumentCount = 0
  /// `$<length>\r\n<bytes>\r\n` for each argument, the name included.
  private var encodedArguments: [UInt8] = []

  package init(_ name: String, _ arguments: any RedisArgument...) {
    self.name = name
    encodedArguments.reserveCapacity(Self.usualBytes)
    append(name)
    for argument in arguments {
      argument.append(to: &self)
    }
  }

  /// A list of arguments without a command, to be added to one.
  /// - Parameter bytes: about how many there will be.
  package static func arguments(bytes: Int = 0) -> RedisCommand { RedisCommand(bytes: bytes) }

  private init(bytes: Int) {
    name = ""
    encodedArguments.reserveCapacity(bytes)
  }

  /// Room for most commands without growing.
  private static let usualBytes = 160

  package mutating func append(_ argument: some RedisArgument) {
    argument.append(to: &self)
  }

  // Not generic, for the types of most arguments: a generic function is not specialized in other modules.
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

  /// Adds one argument of four parts, as keys are.
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

  /// Adds one argument, of any bytes: the length goes first, so nothing is escaped.
  package mutating func append(bytes: some Collection<UInt8>) {
    beginArgument(byteCount: bytes.count)
    encodedArguments.append(contentsOf: bytes)
    encodedArguments.appendLineEnd()
  }

  /// Adds the arguments of another, its name among them.
  package mutating func append(argumentsOf other: RedisCommand) {
    argumentCount += other.argumentCount
    encodedArguments.append(contentsOf: other.encodedArguments)
  }

  private mutating func beginArgument(byteCount: Int) {
    argumentCount += 1
    encodedArguments.append(length: byteCount, "$")
  }
}

extension RedisCommand {
  /// The bytes of each argument, the name first.
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

  /// The size on the wire.
  package var byteCount: Int {
    encodedArguments.count + DecimalText(lengthOf: argumentCount, "*").count
  }

  func encode(into buffer: inout [UInt8]) {
    buffer.append(length: argumentCount, "*")
    buffer.append(contentsOf: encodedArguments)
  }
}

/// What can stand in a command. Every conforming value is exactly one argument.
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

/// The cursor of a scan.
extension UInt64: RedisArgument {
  package func append(to command: inout RedisCommand) { command.append(bytes: String(self).utf8) }
}

extension DecimalText {
  /// The line before an argument, and before a command: how long it is.
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
    // Nearly all lengths are short: a command has five of these lines.
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
