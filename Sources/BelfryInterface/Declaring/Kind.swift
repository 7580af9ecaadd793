import BelfryBytes
package import BelfryModel

/// A kind of value in a request: its shape, and how it is read. A value of another kind is refused with the field's name.
package struct Kind<Value: Sendable>: Sendable {
  package let shape: Shape
  package let read: @Sendable (_ value: JSONValue, _ path: String) throws(Refusal) -> Value

  package init(
    _ shape: Shape,
    _ read: @escaping @Sendable (_ value: JSONValue, _ path: String) throws(Refusal) -> Value
  ) {
    self.shape = shape
    self.read = read
  }
}

// MARK: - Texts

extension Kind where Value == String {
  package static func text(characters: ClosedRange<Int>) -> Kind {
    Kind(.text(characters: characters)) { value, path throws(Refusal) in
      let text = try value.text(at: path)
      if characters.lowerBound > 0, text.isEmpty { throw .invalid(path, "must not be empty") }
      try NotificationContent.check(text, path, characters: characters.upperBound)
      return text
    }
  }

  package static func text(bytes: ClosedRange<Int>) -> Kind {
    Kind(.text(bytes: bytes)) { value, path throws(Refusal) in
      let text = try value.text(at: path)
      try NotificationContent.check(text, path, bytes: bytes)
      return text
    }
  }
}

extension Kind where Value: RawRepresentable<String> & NamedChoice {
  /// One of a few words. A refusal lists them.
  package static var choice: Kind {
    Kind(.choice(Value.self)) { value, path throws(Refusal) in
      if case .string(let word) = value, let choice = Value(word: UTF8Text(word)) { return choice }
      throw .noChoice(of: Value.allCases.map { "\"\($0.rawValue)\"" }, at: path)
    }
  }
}

extension Kind where Value: RawRepresentable<Int> & NamedChoice {
  package static var choice: Kind {
    Kind(.choice(Value.self)) { value, path throws(Refusal) in
      if case .integer(let number) = value, let choice = Value(rawValue: Int(number)) { return choice }
      // Within quotes it would look like one of them.
      if case .string = value {
        let choices = Value.allCases.map { "\($0.rawValue) (\($0))" }.joined(separator: " or ")
        throw value.refused("a number: \(choices)", at: path)
      }
      throw .noChoice(of: Value.allCases.map { "\($0.rawValue)" }, at: path)
    }
  }
}

// MARK: - Numbers and flags

extension Kind where Value == Bool {
  package static var flag: Kind {
    Kind(.flag) { value, path throws(Refusal) in
      guard case .bool(let flag) = value else { throw value.refused("true or false", at: path) }
      return flag
    }
  }
}

extension Kind where Value == Int {
  package static func integer(_ range: ClosedRange<Int>) -> Kind {
    Kind(.integer([range])) { value, path throws(Refusal) in
      guard case .integer(let wide) = value, let number = Int(exactly: wide), range.contains(number) else {
        throw .invalid(path, "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
      }
      return number
    }
  }

  /// Milliseconds since 1970.
  package static var time: Kind {
    Kind(.time) { value, path throws(Refusal) in
      guard case .integer(let wide) = value, let time = Int(exactly: wide), time >= 0 else {
        throw .invalid(path, "must be a time in milliseconds since 1970")
      }
      guard time == 0 || time >= Int(SharedFields.earliestMilliseconds) else {
        throw .invalid(
          path, "must be a time in milliseconds since 1970, and it is before 2001: is it in seconds?")
      }
      return time
    }
  }

  /// The type of what a back end announces.
  package static var announcedType: Kind {
    Kind(.integer(Catalogue.announcedCodes)) { value, path throws(Refusal) in
      try Catalogue.announcedType(value.integer(at: path)).code
    }
  }

  /// The `status` of a notification. Its range has gaps.
  package static var status: Kind {
    Kind(.integer([0...0, NotificationContent.customStatus])) { value, path throws(Refusal) in
      let status = try value.integer(at: path)
      try NotificationContent.check(status: status)
      return status
    }
  }
}

extension Kind where Value == Int64 {
  /// Milliseconds since 1970, up to the end of the year 9999. Calendars differ after that.
  package static var time: Kind {
    Kind(.time) { value, path throws(Refusal) in
      guard case .integer(let time) = value, (0...253_402_300_799_999).contains(time) else {
        throw .invalid(path, "must be a time in milliseconds since 1970")
      }
      return time
    }
  }
}

extension Kind where Value == Duration {
  /// Whole seconds.
  package static func seconds(_ range: ClosedRange<Int>) -> Kind {
    let number = Kind<Int>.integer(range)
    return Kind(number.shape) { value, path throws(Refusal) in .seconds(try number.read(value, path)) }
  }
}

// MARK: - Names and ids

extension Kind where Value == AccountID {
  package static var account: Kind {
    Kind(.account) { value, path throws(Refusal) in try value.account(at: path) }
  }
}

extension Kind where Value == DeviceID {
  package static var device: Kind {
    Kind(.device) { value, path throws(Refusal) in
      guard case .string(let text) = value, let device = DeviceID(text) else {
        throw .invalid(path, "must be \(DeviceID.rule)")
      }
      return device
    }
  }
}

extension Kind where Value == EntityID {
  package static var id: Kind { Kind(.id) { value, path throws(Refusal) in try value.entity(at: path) } }

  /// An id that says where a list continues.
  package static var cursor: Kind {
    Kind(.cursor) { value, path throws(Refusal) in
      guard case .string(let text) = value, let id = EntityID(text) else { throw .noCursor(path) }
      return id
    }
  }
}

extension Kind where Value == SpaceID {
  package static var space: Kind {
    Kind(.space) { value, path throws(Refusal) in
      guard let space = SpaceID(key: try value.text(at: path)) else {
        throw .invalid(path, "must name a space, such as `server:7`")
      }
      return space
    }
  }
}

extension Kind where Value == RequestID {
  package static var request: Kind {
    Kind(.id) { value, path throws(Refusal) in
      guard let id = RequestID(text: try value.entity(at: path).text) else {
        throw .invalid(path, "must be a positive decimal id")
      }
      return id
    }
  }
}

extension Kind where Value == RequestName {
  /// Every decimal id also has the form of an accid.
  package static var requestName: Kind {
    Kind(.account) { value, path throws(Refusal) in
      guard let name = RequestName(try value.text(at: path)) else {
        throw .invalid(
          path, "must be the id of an invitation or application, or an account: \(AccountID.rule)")
      }
      return name
    }
  }
}

extension Kind where Value == InviteCode {
  package static var code: Kind {
    Kind(.code) { value, path throws(Refusal) in
      guard let code = InviteCode(text: try value.text(at: path)) else {
        throw .invalid(path, "must be \(InviteCode.rule)")
      }
      return code
    }
  }
}

extension Kind where Value == MessageID {
  package static var message: Kind {
    Kind(.message) { value, path throws(Refusal) in try value.message(at: path) }
  }
}

extension Kind where Value == PageCursor {
  package static var cursor: Kind {
    Kind(.cursor) { value, path throws(Refusal) in
      let text = try value.text(at: path)
      guard text.utf8.count <= PageCursor.textLimitBytes else { throw .noCursor(path) }
      return PageCursor(text: text)
    }
  }
}

extension Kind where Value == AuditPlace {
  package static var cursor: Kind {
    Kind(.cursor) { value, path throws(Refusal) in
      guard let place = AuditPlace(text: try value.text(at: path)) else { throw .noCursor(path) }
      return place
    }
  }
}

extension Kind where Value == LogCursor {
  package static var cursor: Kind {
    Kind(.cursor) { value, path throws(Refusal) in
      guard let cursor = LogCursor(text: try value.text(at: path)) else { throw .noCursor(path) }
      return cursor
    }
  }
}

extension Kind where Value == FeedCursor {
  package static var cursor: Kind {
    Kind(.cursor) { value, path throws(Refusal) in
      guard let cursor = FeedCursor(text: try value.text(at: path)) else { throw .noCursor(path) }
      return cursor
    }
  }
}

// MARK: - Values of values

extension Kind where Value == JSONValue {
  package static func json(bytesMax: Int) -> Kind {
    Kind(.json(bytesMax: bytesMax)) { value, path throws(Refusal) in
      try NotificationContent.check(value, path, jsonBytes: bytesMax)
      return value
    }
  }
}

extension Kind {
  package static func list<Element>(_ element: Kind<Element>, counts: ClosedRange<Int>) -> Kind
  where Value == [Element] {
    Kind(.list(element.shape, counts: counts)) { value, path throws(Refusal) in
      try value.list(at: path, counts: counts, element.read)
    }
  }

  package static func accounts(_ counts: ClosedRange<Int>) -> Kind where Value == [AccountID] {
    .list(.account, counts: counts)
  }

  /// An object with these fields, and the value that is made from them.
  ///
  /// - Parameter name: the name of its schema.
  package static func object<each Declared: DeclaredField>(
    _ fields: repeat each Declared, named name: String,
    made make: @escaping @Sendable (repeat (each Declared).Value) throws(Refusal) -> Value
  ) -> Kind {
    let list = FieldList(repeat each fields)
    return Kind(.resource(name, .object(list.properties))) { value, path throws(Refusal) in
      let values = try list.read(value, at: path)
      return try make(repeat each values)
    }
  }
}

extension Refusal {
  package static func noCursor(_ path: String) -> Refusal {
    .invalid(path, "is not a cursor that Belfry gave")
  }
}
