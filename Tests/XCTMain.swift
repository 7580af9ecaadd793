import Testing

/// The entry point of all tests, under the name by which SwiftPM finds one.
///
/// Without this file SwiftPM writes an entry point itself, and looks for tests of XCTest in the index that the compiler writes for
/// editors. There are none here, and a build without that index is a tenth shorter (scripts/shared/build.bash).
@main
struct AllTests {
  static func main() async {
    // `swift test` also asks for XCTest's tests, in a run of its own.
    guard CommandLine.arguments.contains("swift-testing") else { return }
    await Testing.__swiftPMEntryPoint() as Never
  }
}
