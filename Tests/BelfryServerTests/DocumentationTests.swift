import BelfryModel
import Foundation
import Testing

@testable import BelfryServer

/// docs/http.md tells of everything there is, and of nothing that is not there.
@Suite struct DocumentationTests {
  private let text: String

  init() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    text = try String(contentsOf: root.appendingPathComponent("docs/http.md"), encoding: .utf8)
  }

  @Test func everyRouteAndNoOther() {
    let documented = text.matches(of: /`((?:GET|POST|PUT|PATCH|DELETE) \/[^`]*)`/).map { String($0.1) }
    #expect(Set(documented) == Set(Routes.all.map { "\($0.verb.rawValue) \($0.path)" }))
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
    for field in NotificationContent.CodingKeys.allCases
    where ![.groupId, .roomId].contains(field) {
      #expect(text.contains("`\(field.rawValue)`"), "\(field)")
    }
    for field in NotificationSetting.CodingKeys.allCases {
      #expect(text.contains(field.rawValue), "\(field)")
    }
  }
}
