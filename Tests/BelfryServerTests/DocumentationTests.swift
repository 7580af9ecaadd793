import BelfryModel
import Foundation
import Testing

@testable import BelfryInterface
@testable import BelfryServer

/// docs/http.md mentions nothing that does not exist. docs/openapi.json has everything that exists.
@Suite struct DocumentationTests {
  private let text: String

  init() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    text = try String(contentsOf: root.appendingPathComponent("docs/http.md"), encoding: .utf8)
  }

  @Test func noRouteThatIsNotThere() {
    let documented = text.matches(of: /`((?:GET|POST|PUT|PATCH|DELETE) \/[^`]*)`/).map { String($0.1) }
    #expect(!documented.isEmpty)
    #expect(Set(documented).subtracting(Routes.all.map { "\($0.verb.rawValue) \($0.path)" }) == [])
  }

  @Test func everyPath() {
    for path in Set(Routes.all.map(\.path.description)) {
      let first = path.split(separator: "/").prefix(2).joined(separator: "/")
      #expect(text.contains("/" + first), "docs/http.md says nothing of \(path)")
    }
  }

  @Test func everyCodeWithItsStatus() {
    for code in Refusal.Code.allCases {
      let row = text.split(separator: "\n").first {
        $0.hasPrefix("| ") && $0.contains("\(code.status)") && $0.contains("`\(code.rawValue)`")
      }
      #expect(row != nil, "\(code.status) \(code)")
    }
  }

  @Test func everyFieldOfASend() {
    for field in NotificationContent.CodingKeys.allCases {
      #expect(text.contains("`\(field.rawValue)`"), "\(field)")
    }
    for field in NotificationSetting.CodingKeys.allCases {
      #expect(text.contains(field.rawValue), "\(field)")
    }
  }
}
