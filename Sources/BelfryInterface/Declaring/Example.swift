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
    case .object(let object): object.example(withAll: true)
    case .json, .jsonObject: ["key": "value"]
    case .map(let element): ["200": element.example]
    case .orNull(let shape), .resource(_, let shape): shape.example
    }
  }
}

extension ObjectShape {
  /// - Parameter withAll: true to include the fields that may be left out.
  package func example(withAll: Bool) -> JSONValue {
    let given = properties.filter { property in
      switch rule {
      case .oneOf(let names) where names.contains(property.name): return property.name == names.first
      case .someOf(let names) where property.name == names.first: return true
      default: return property.isNeeded || withAll && (usual.isEmpty || usual.contains(property.name))
      }
    }
    return .object(JSONObject(given.map { ($0.name, $0.shape.example) }))
  }
}
