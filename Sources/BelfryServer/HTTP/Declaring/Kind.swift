import BelfryBytes
import BelfryModel
import BelfryStore

/// A kind of value in a request: its shape, and how it is read. What is not of this kind is refused with the
/// field's name.
struct Kind<Value: Sendable>: Sendable {
  let shape: Shape
  let read: @Sendable (_ value: JSONValue, _ path: String) throws(Refusal) -> Value

  init(
    _ shape: Shape,
    _ read: @escaping @Sendable (_ value: JSONValue, _ path: String) throws(Refusal) -> Value
  ) {
    self.shape = shape
    self.read = read
  }
}

// MARK: - Texts

extension Kind where Value == String {
  static func text(characters: ClosedRange<Int>) -> Kind {
    Kind(.text(characters: characters)) { value, path throws(Refusal) in
      let text = try value.text(at: path)
      if characters.lowerBound > 0, text.isEmpty { throw .invalid(path, "must not be empty") }
      try NotificationContent.check(text, path, characters: characters.upperBound)
      return text
    }
  }

  static func text(bytes: ClosedRange<Int>) -> Kind {
    Kind(.text(bytes: bytes)) { value, path throws(Refusal) in
      let text = try value.text(at: path)
      try NotificationContent.check(text, path, bytes: bytes)
      return text
    }
  }
}

extension Kind where Value: RawRepresentable<String> & CaseIterable {
  /// One of a few words, which the refusal lists.
  static var choice: Kind {
    Kind(.choice(Value.self)) { value, path throws(Refusal) in
      if let choice = Value(word: UTF8Text(try value.text(at: path))) { return choice }
      throw .noChoice(of: Value.allCases.map { "\"\($0.rawValue)\"" }, at: path)
    }
  }
}

extension Kind where Value: RawRepresentable<Int> & CaseIterable {
  static var choice: Kind {
    Kind(.choice(Value.self)) { value, path throws(Refusal) in
      if let choice = Value(rawValue: try value.integer(at: path)) { return choice }
      throw .noChoice(of: Value.allCases.map { "\($0.rawValue)" }, at: path)
    }
  }
}

// MARK: - Numbers and flags

extension Kind where Value == Bool {
  static var flag: Kind {
    Kind(.flag) { value, path throws(Refusal) in
      guard case .bool(let flag) = value else { throw value.refused("true or false", at: path) }
      return flag
    }
  }
}

extension Kind where Value == Int {
  static func integer(_ range: ClosedRange<Int>) -> Kind {
    Kind(.integer([range])) { value, path throws(Refusal) in
      guard case .integer(let wide) = value, let number = Int(exactly: wide), range.contains(number) else {
        throw .invalid(path, "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
      }
      return number
    }
  }

  /// The `status` of a notification, which has gaps.
  static var status: Kind {
    Kind(.integer([0...0, NotificationContent.customStatus])) { value, path throws(Refusal) in
      let status = try value.integer(at: path)
      try NotificationContent.check(status: status)
      return status
    }
  }
}

extension Kind where Value == Duration {
  /// Whole seconds.
  static func seconds(_ range: ClosedRange<Int>) -> Kind {
    let number = Kind<Int>.integer(range)
    return Kind(number.shape) { value, path throws(Refusal) in .seconds(try number.read(value, path)) }
  }
}

// MARK: - Names and ids

extension Kind where Value == AccountID {
  static var account: Kind {
    Kind(.account) { value, path throws(Refusal) in try value.account(at: path) }
  }
}

extension Kind where Value == EntityID {
  static var id: Kind { Kind(.id) { value, path throws(Refusal) in try value.entity(at: path) } }

  /// An id that says where a list goes on.
  static var cursor: Kind {
    Kind(.cursor) { value, path throws(Refusal) in
      guard case .string(let text) = value, let id = EntityID(text) else { throw .noCursor(path) }
      return id
    }
  }
}

extension Kind where Value == RequestID {
  static var request: Kind {
    Kind(.id) { value, path throws(Refusal) in
      guard let id = RequestID(text: try value.entity(at: path).text) else {
        throw .invalid(path, "must be a positive decimal id")
      }
      return id
    }
  }
}

extension Kind where Value == InviteCode {
  static var code: Kind {
    Kind(.code) { value, path throws(Refusal) in
      guard let code = InviteCode(text: try value.text(at: path)) else {
        throw .invalid(path, "must be \(InviteCode.rule)")
      }
      return code
    }
  }
}

extension Kind where Value == MessageID {
  static var message: Kind {
    Kind(.message) { value, path throws(Refusal) in try value.message(at: path) }
  }
}

extension Kind where Value == PageCursor {
  static var cursor: Kind {
    Kind(.cursor) { value, path throws(Refusal) in
      let text = try value.text(at: path)
      guard text.utf8.count <= PageCursor.textLimitBytes else { throw .noCursor(path) }
      return PageCursor(text: text)
    }
  }
}

extension Kind where Value == FeedCursor {
  static var cursor: Kind {
    Kind(.cursor) { value, path throws(Refusal) in
      guard let cursor = FeedCursor(text: try value.text(at: path)) else { throw .noCursor(path) }
      return cursor
    }
  }
}

// MARK: - Values of values

extension Kind where Value == JSONValue {
  static func json(bytesMax: Int) -> Kind {
    Kind(.json(bytesMax: bytesMax)) { value, path throws(Refusal) in
      try NotificationContent.check(value, path, jsonBytes: bytesMax)
      return value
    }
  }
}

extension Kind {
  static func list<Element>(_ element: Kind<Element>, counts: ClosedRange<Int>) -> Kind
  where Value == [Element] {
    Kind(.list(element.shape, counts: counts)) { value, path throws(Refusal) in
      try value.list(at: path, counts: counts, element.read)
    }
  }

  static func accounts(_ counts: ClosedRange<Int>) -> Kind where Value == [AccountID] {
    .list(.account, counts: counts)
  }

  /// An object with these fields, and what is made of them.
  static func object(
    _ fields: [any DeclaredField], _ make: @escaping @Sendable (Values) throws(Refusal) -> Value
  ) -> Kind {
    Kind(.object(fields.map(\.property))) { value, path throws(Refusal) in
      try make(Values(value, at: path, fields))
    }
  }
}

extension Kind where Value == [UTF8Text: String] {
  /// Texts by name.
  static var texts: Kind {
    Kind(.map(.text)) { value, path throws(Refusal) in
      guard case .object(let members) = value else { throw value.refused("an object", at: path) }
      var texts: [UTF8Text: String] = [:]
      for (name, value) in members {
        let name = UTF8Text(name)
        if name.isEmpty { throw .invalid(path, "must not have an empty name") }
        guard case .string(let text) = value else {
          throw value.refused("a string", at: "").under(name).inside(path)
        }
        texts[name] = text
      }
      return texts
    }
  }
}

extension Refusal {
  static func noCursor(_ path: String) -> Refusal { .invalid(path, "was not given by this server") }
}
