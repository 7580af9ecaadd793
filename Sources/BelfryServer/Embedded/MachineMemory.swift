import Glibc

/// The memory of this machine, or of the container that this process runs in.
enum MachineMemory {
  /// The files in which Linux gives the memory limit of a container, for control groups version 2 and 1.
  private static let containerLimitPaths = [
    "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes",
  ]

  static var totalBytes: Int {
    let physical = sysconf(Int32(_SC_PHYS_PAGES)) * sysconf(Int32(_SC_PAGESIZE))
    // Without a limit the file says `max`, or a number larger than the memory of any machine.
    let allowed = containerLimitPaths.compactMap { path in
      (try? SmallFile.read(path, sizeMaxBytes: 64)).flatMap {
        Int(String(decoding: $0, as: UTF8.self).filter(\.isNumber))
      }
    }
    return ([physical] + allowed).filter { $0 > 0 }.min() ?? 0
  }
}
