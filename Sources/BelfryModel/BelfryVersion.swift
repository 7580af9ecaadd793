/// Which Belfry this is. The command line, the broker's first log line, the statistics, the metrics and the
/// description of the HTTP interface all say it.
package enum BelfryVersion {
  /// By semver.org; CHANGELOG.md has a part for each.
  package static let text = "0.1.0"
}
