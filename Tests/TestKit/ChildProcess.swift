package import Glibc

/// A process started by the tests, which does not outlive them: if they crash, a watchdog kills it and
/// removes its folder.
package struct ChildProcess: Sendable {
  package let id: pid_t
  private let watchdog: pid_t
  /// The watchdog reads from it. A line says that all is well; an end of file, that we are gone.
  private let leash: Int32

  package init(
    _ arguments: [String], environment: [String: String] = [:], output: String, folder: String
  ) throws(FixtureError) {
    let words = environment.isEmpty ? arguments : ["env"] + environment.map { "\($0)=\($1)" } + arguments
    id = try spawn(words, input: nil, output: output)
    var ends: [Int32] = [0, 0]
    // Were the other end inherited by another child, our end would not be the last to close.
    let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    guard unsafe socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw FixtureError("no watchdog") }
    leash = ends[1]
    defer { close(ends[0]) }
    // A signal that ends the tests as a group (Ctrl-C, a timeout) must not end the watchdog before its work
    // is done.
    let script = "trap '' HUP INT TERM; read line || { kill -9 \"$0\"; rm -rf \"$1\"; }"
    watchdog = try spawn(["sh", "-c", script, "\(id)", folder], input: ends[0], output: "/dev/null")
  }

  /// Returns from SIGSTOP when the process stands still: on a busy machine its threads go on for some milliseconds.
  package func signal(_ number: Int32) {
    kill(id, number)
    guard number == SIGSTOP else { return }
    var information = unsafe siginfo_t()
    _ = unsafe waitid(P_PID, id_t(id), &information, WSTOPPED | WEXITED | WNOWAIT)
  }

  /// Whether it has ended by itself and waits for `hasEnded`.
  package var isEnding: Bool {
    var information = unsafe siginfo_t()
    let status = unsafe waitid(P_PID, id_t(id), &information, WEXITED | WNOHANG | WNOWAIT)
    return unsafe status == 0 && information.si_signo == SIGCHLD
  }

  /// Waits until the process has ended.
  /// - Returns: false if it has not within the time.
  package func hasEnded(within limit: Duration) async -> Bool {
    let deadline = ContinuousClock.now + limit
    while waitpid(id, nil, WNOHANG) == 0 {
      if ContinuousClock.now > deadline { return false }
      try? await Task.sleep(for: .milliseconds(2))
    }
    _ = unsafe send(leash, "\n", 1, Int32(MSG_NOSIGNAL))
    close(leash)
    waitpid(watchdog, nil, 0)
    return true
  }
}

/// - Parameter input: a descriptor that becomes the standard input; /dev/null if nil.
private func spawn(_ arguments: [String], input: Int32?, output: String) throws(FixtureError) -> pid_t {
  var actions = unsafe posix_spawn_file_actions_t()
  unsafe posix_spawn_file_actions_init(&actions)
  defer { unsafe posix_spawn_file_actions_destroy(&actions) }
  if let input {
    unsafe posix_spawn_file_actions_adddup2(&actions, input, 0)
  } else {
    unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
  }
  unsafe posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_APPEND, 0o644)
  unsafe posix_spawn_file_actions_adddup2(&actions, 1, 2)

  // The child starts without the signal masks and handlers of the tests.
  var attributes = posix_spawnattr_t()
  unsafe posix_spawnattr_init(&attributes)
  defer { unsafe posix_spawnattr_destroy(&attributes) }
  var signals = sigset_t()
  unsafe sigemptyset(&signals)
  unsafe posix_spawnattr_setsigmask(&attributes, &signals)
  unsafe sigfillset(&signals)
  unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
  unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

  var words = unsafe arguments.map { unsafe strdup($0) } + [nil]
  defer { unsafe words.forEach { unsafe free($0) } }
  var id = pid_t()
  let status = unsafe posix_spawnp(&id, arguments[0], &actions, &attributes, &words, environ)
  guard status == 0 else {
    throw FixtureError("\(arguments[0]) does not start: \(unsafe String(cString: strerror(status)))")
  }
  return id
}
