package import BelfryModel

// Values that fit their declarations. The description of the interface shows them as examples.

extension Shape {
  /// A value of this shape.
  package var example: JSONValue {
    switch self {
    case .text(let limit): .string(String("Wharf news".prefix(min(10, limit.range.upperBound))))
    case .account: "alice"
    case .device: "phone-1"
    case .code: "7K3M0QWX9ZAB"
    case .space: "server:5072893472309845"
    case .id: "5072893472309845"
    case .message: "248736501227417601"
    case .cursor: "0"
    case .flag: true
    case .integer(let ranges): .integer(Int64(ranges.last?.lowerBound ?? 0))
    case .time: 1_763_700_000_000
    case .words(_, let words): .string(words.first ?? "")
    case .textOrNumber(let limit, _): Shape.text(limit).example
    case .numbers(_, let words): .integer(Int64(words.first?.number ?? 0))
    case .list(let element, let counts): counts.upperBound > 0 ? .array([element.example]) : []
    case .object(let object): object.example()
    case .json, .jsonObject: ["key": "value"]
    case .map(let element): ["200": element.example]
    case .orNull(let shape), .resource(_, let shape): shape.example
    }
  }
}

extension ObjectShape {
  /// - Parameter named: the fields that may be left out and are included nevertheless; nil: all of them.
  package func example(withOptional named: Set<String>? = nil) -> JSONValue {  // own text
    let given = properties.filter { property in
      switch rule {
      case .oneOf(let names) where names.contains(property.name): return property.name == names.first
      case .someOf(let names) where property.name == names.first && named?.isDisjoint(with: names) != false:
        return true
      default:
        return property.isNeeded
          || named?.contains(property.name) ?? (usual.isEmpty || usual.contains(property.name))
      }
    }
    return .object(JSONObject(given.map { ($0.name, $0.example) }))
  }
}

extension Property {
  /// A value that the field would have, if its name says more of it than its shape.
  fileprivate var example: JSONValue {
    switch (name, shape) {
    case ("type", .integer(let ranges)) where ranges.contains { $0.contains(100) }: 100
    case ("types", .list): [100]
    case ("spaces", .list): ["server:5072893472309845"]
    case ("url", .text): "https://files.example/minutes.pdf"
    case ("avatar", .text), ("icon", .text): "https://files.example/picture.png"
    case ("messageClientId", .text): "order-5521"
    case ("appId", .text): "com.example.app"
    case ("pushkey", .text): "5d41402abc4b2a76"
    case ("env", .text): "test"
    case ("nick", .text): "Alice"
    case ("body", .text), ("message", .text), ("postscript", .text), ("reason", .text): "See you at 6"
    case ("durationSeconds", _), ("ttlSeconds", _): 86_400
    case ("size", _): 20_480
    default: shape.example
    }
  }
}
