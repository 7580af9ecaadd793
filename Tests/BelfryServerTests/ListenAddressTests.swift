import Testing

@testable import BelfryServer

@Suite struct ListenAddressTests {
  @Test(arguments: [("localhost:8080", "localhost", 8_080), ("[::1]:0", "::1", 0)])
  func isReadAndWritten(text: String, host: String, port: UInt16) {
    #expect(ListenAddress(text) == ListenAddress(host: host, port: port))
    #expect(ListenAddress(text)?.description == text)
  }

  @Test(arguments: [
    "", "localhost", ":80", "localhost:", "localhost:65536", "[localhost]:80", "[[::1]:80", "[::1:80",
    "a[b:80",
  ])
  func isRefused(text: String) {
    #expect(ListenAddress(text) == nil)
  }
}
