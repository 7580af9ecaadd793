import BelfryModel
import FoundationEssentials

/// Named values that only the broker knows, as rows of a name and a value.
enum FactText {
  /// Sorted by name. The name of a value inside an object, or inside the objects of a list, begins with that of
  /// the object, or with that of the list and a number.
  static func rows(_ facts: JSONObject, prefix: String = "", in zone: TimeZone? = nil) -> [[String]] {
    facts.flatMap { name, value -> [[String]] in
      if let inner = members(value) { return rows(inner, prefix: prefix + name + " ", in: zone) }
      return [[VisibleText.of(prefix + name), VisibleText.of(text(value, named: name, in: zone))]]
    }
  }

  /// The named members inside a value; nil for a single value.
  private static func members(_ value: JSONValue) -> JSONObject? {
    switch value {
    case .object(let members):
      return members
    case .array(let elements) where elements.contains { if case .object = $0 { true } else { false } }:
      return JSONObject(elements.enumerated().map { ("\($0.offset)", $0.element) })
    default:
      return nil
    }
  }

  private static func text(_ value: JSONValue, named name: String, in zone: TimeZone?) -> String {
    switch value {
    case .null: return "-"
    case .bool(let flag): return flag ? "yes" : "no"
    case .string(let text): return text
    case .integer(let number):
      guard let zone, isTime(name) else { return String(number) }
      return TimeText.of(unixMilliseconds: number, in: zone)
    default: return (try? JSONLine.text(value)) ?? ""
    }
  }

  private static func isTime(_ name: String) -> Bool {
    name.hasSuffix("Time") || name.hasSuffix("Since") || name.hasSuffix("At") || name.hasSuffix("Until")
      || name == "time"
  }
}
