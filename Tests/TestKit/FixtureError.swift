/// Why a test could not have its redis-server.
package struct FixtureError: Error, CustomStringConvertible {
  package let description: String

  init(_ description: String) {
    self.description = description
  }
}
