import Glibc

enum RedisExecutable {
  /// The folders in which packages install redis-server, for services that are started with an empty PATH.
  private static let usualFolders = ["/usr/bin", "/usr/local/bin", "/usr/sbin"]

  /// - Parameter name: a path if it has a slash; otherwise a name looked up in PATH and the usual folders.
  static func find(_ name: String) throws(StartError) -> String {
    if name.contains("/") {
      guard isExecutable(name) else { throw missing("it is not executable", at: name) }
      return name
    }
    let path = unsafe getenv("PATH").map { unsafe String(cString: $0) } ?? ""
    let folders = path.split(separator: ":").map(String.init) + usualFolders
    guard let found = folders.map({ "\($0)/\(name)" }).first(where: isExecutable) else {
      throw missing("there is no such program in PATH", at: name)
    }
    return found
  }

  private static func isExecutable(_ path: String) -> Bool {
    var status = stat()
    guard unsafe stat(path, &status) == 0, unsafe access(path, X_OK) == 0 else { return false }
    return status.st_mode & S_IFMT == S_IFREG
  }

  private static func missing(_ cause: String, at place: String) -> StartError {
    let remedy =
      "Install the package redis-server (Debian, Ubuntu: apt-get install redis-server; Fedora: dnf install "
      + "redis), set embeddedRedis.server to the path of redis-server, or name a running Redis with --redis URL"
    return StartError(.redisMissing, "\(cause). \(remedy)", at: place)
  }
}
