import Foundation
import Glibc

/// The folder is under /tmp, even if TMPDIR names another: the path of a unix socket may have 107 bytes only.
package func makeTemporaryFolder() throws(FixtureError) -> String {
  var template = Array("/tmp/belfry-redis-XXXXXX".utf8CString)
  guard unsafe mkdtemp(&template) != nil else { throw FixtureError("no temporary folder") }
  return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

/// Removes the folder. A folder that is gone already is no error.
package func removeFolder(_ path: String) {
  try? FileManager.default.removeItem(atPath: path)
}

/// The last lines of the log of a server that did not start.
package func lastLogLines(of path: String, atMost count: Int = 5) -> String {
  let log = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
  return log.split(separator: "\n").suffix(count).joined(separator: "\n")
}

/// A port that is free now, below those that Linux gives to outgoing connections (from 32,768): only another
/// server might take it before ours does, or while ours is down.
package func findFreePort() throws(FixtureError) -> UInt16 {
  for _ in 0..<100 {
    let port = UInt16.random(in: 10_000..<32_000)
    if try isFree(port) { return port }
  }
  throw FixtureError("no free port")
}

private func isFree(_ port: UInt16) throws(FixtureError) -> Bool {
  let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
  guard descriptor >= 0 else { throw FixtureError("no socket") }
  defer { close(descriptor) }
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
  address.sin_port = port.bigEndian
  return unsafe withUnsafeBytes(of: &address) { bytes in
    unsafe bind(descriptor, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t(bytes.count))
  } == 0
}

/// The reason why a test lacks something, or has waited in vain.
package struct FixtureError: Error, CustomStringConvertible {
  package let description: String

  package init(_ description: String) {
    self.description = description
  }
}
