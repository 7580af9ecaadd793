package import BelfryBytes
package import BelfryInterface
import BelfryModel

extension Route {
  /// A value for each parameter of its path.
  package var examplePath: [UTF8Text: UTF8Text] {
    Dictionary(uniqueKeysWithValues: pathProperties.map { (UTF8Text($0.name), $0.exampleText) })
  }

  /// The query with all fields that the route needs.
  package var exampleQuery: [(name: UTF8Text, value: UTF8Text)] {
    queryProperties.filter(\.isNeeded).map { (UTF8Text($0.name), $0.exampleText) }
  }
}

extension Property {
  fileprivate var exampleText: UTF8Text {
    switch shape.example {
    case .string(let text): UTF8Text(text)
    case .integer(let number): UTF8Text("\(number)")
    case .bool(let flag): flag ? "true" : "false"
    default: "x"
    }
  }
}
