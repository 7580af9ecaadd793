import BelfryInterface
import Testing

/// The success messages of the rows, and the output of commands with them.
@Suite struct SuccessMessageTests {
  private let changing = Routes.all.filter { $0.verb != .get && $0.command != nil }

  @Test func `each command that changes something has a short message`() {
    for route in changing {
      let done = route.options.done ?? ""
      #expect(!done.isEmpty && done.count < 60, "\(route.name)")
      #expect(!done.contains { "?.!:".contains($0) }, "\(route.name): \(done)")
      #expect(done.first?.isLowercase == true, "\(route.name): \(done)")
    }
    #expect(Routes.all.allSatisfy { $0.verb != .get || $0.options.done == nil })
  }

  @Test func `within a group two commands say different things, unless they do the same to one and to many`()
  {
    func words(_ route: Route) -> (group: String, verb: String) {
      let words = (route.command ?? "").split(separator: " ").map(String.init)
      return (words[0], words.count > 1 ? words[1].replacing("-many", with: "") : "")
    }
    for (index, route) in changing.enumerated() {
      for other in changing[(index + 1)...] where words(other).group == words(route).group {
        #expect(
          route.options.done != other.options.done || words(other) == words(route),
          "\(route.name) and \(other.name)")
      }
    }
  }

  @Test func `a question is no question yet`() {
    for route in Routes.all {
      guard let question = route.options.question else { continue }
      #expect(!question.contains("?") && question.count < 60, "\(route.name)")
      #expect(route.verb != .get)
    }
  }
}
