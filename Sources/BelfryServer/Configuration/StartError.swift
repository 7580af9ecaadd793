import BelfrySystem
import Glibc

/// Why the broker does not start. The cause also gives the remedy, if it is known.
package struct StartError: Error, Hashable, CustomStringConvertible {
  package enum Code: String, Sendable {
    /// A file that was named cannot be read.
    case unreadableFile
    /// The configuration file is not JSON with comments.
    case malformedFile
    /// A key or a variable that is no setting; it is most likely misspelt.
    case unknownKey
    /// A value of the wrong kind, outside its range, or in the wrong form.
    case invalidValue
    /// The data folder cannot be made, entered or written to, or is open to everybody.
    case dataFolderUnusable
    /// Another broker runs on the same data folder.
    case dataFolderInUse
    /// The secret is missing, too short, or others may read it.
    case secretUnusable
    /// The certificate or its key cannot be used, or they do not belong together.
    case certificateUnusable
    /// There is no redis-server to embed.
    case redisMissing
    /// The embedded redis-server does not run.
    case redisUnusable
    /// The broker, as it was started, cannot work on the keyspace.
    case keyspaceRefused
    /// The address to listen on is in use, or does not belong to this machine.
    case cannotListen
    /// The system has no thread or descriptor left.
    case systemRefused
  }

  package let code: Code
  package let cause: String
  /// The file, the key in it, the variable, the option or the program. It never holds a secret.
  package let place: String

  package init(_ code: Code, _ cause: String, at place: String) {
    self.code = code
    self.cause = cause
    self.place = place
  }

  package var description: String {
    "\(place): \(cause) (\(code.rawValue))"
  }
}

extension StartError {
  /// Adds the name of the setting that names the file to the refusal of the file.
  static func naming<Result>(
    _ setting: String, _ read: () throws(StartError) -> Result
  ) throws(StartError) -> Result {
    do throws(StartError) {
      return try read()
    } catch {
      throw StartError(error.code, error.cause, at: "\(setting): \(error.place)")
    }
  }

  /// Runs work whose errors are system errors.
  static func system<Result>(_ work: () throws(SystemError) -> Result) throws(StartError) -> Result {
    do throws(SystemError) {
      return try work()
    } catch {
      throw StartError(.systemRefused, "\(error)", at: error.place)
    }
  }

  /// A failed system call. The cause is taken from `errno`, so this is called right after it.
  static func refused(_ code: Code, _ action: String, at place: String) -> StartError {
    let reason = unsafe String(cString: strerror(errno))
    return StartError(code, "\(action): \(reason)", at: place)
  }
}
