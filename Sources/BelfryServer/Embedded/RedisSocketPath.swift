import BelfryRedis
import Glibc

/// Chooses the path of the embedded Redis's socket: `redis/redis.sock` in the data folder. If that path is
/// too long for the address of a socket, it is `/tmp/belfry-<user id>/<hash of the data folder>.sock`.
/// XDG_RUNTIME_DIR is not used: it is removed when its user logs out, while the broker may run on.
enum RedisSocketPath {
  static func choose(for dataFolder: String) throws(StartError) -> String {
    let inside = "\(dataFolder)/redis/redis.sock"
    if inside.utf8.count <= RedisEndpoint.unixSocketPathBytesMax, !inside.contains("?") { return inside }
    let folder = "/tmp/belfry-\(geteuid())"
    try makePrivate(folder)
    return "\(folder)/\(String(hash(dataFolder), radix: 16)).sock"
  }

  /// Anybody can make a folder of this name in /tmp, so it is refused unless it belongs to this user alone.
  private static func makePrivate(_ folder: String) throws(StartError) {
    guard unsafe mkdir(folder, 0o700) == 0 || errno == EEXIST else {
      throw .refused(.redisUnusable, "cannot make the folder for its socket", at: folder)
    }
    var status = stat()
    guard unsafe lstat(folder, &status) == 0 else {
      throw .refused(.redisUnusable, "cannot enter the folder for its socket", at: folder)
    }
    guard status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
      throw StartError(
        .redisUnusable,
        "this folder belongs to somebody else or is open to others. Redis's socket would be in it, because the path of the data "
          + "folder is too long: use a data folder with a shorter path",
        at: folder)
    }
  }

  /// FNV-1a. Unlike Swift's hashing, it gives the same result in every process.
  private static func hash(_ text: String) -> UInt64 {
    text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }
}
