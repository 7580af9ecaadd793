import Testing

@testable import BelfryStore

@Suite struct NodesReportTests {
  private func node(replicas count: Int) -> NodeReport {
    let replica = NodeReport.Replica(place: "r:1", state: "online", bytesBehind: 0)
    return NodeReport(
      place: "m:1", isConnected: true, partitions: 64, replicas: Array(repeating: replica, count: count))
  }

  @Test func moreReplicasThanAreWaitedForAreWarnedOf() {
    let nodes = [node(replicas: 1), node(replicas: 2)]
    #expect(NodesReport.warning(nodes, replicasPromised: 1)?.contains("m:1 has 2 replicas") == true)
    #expect(NodesReport.warning(nodes, replicasPromised: 2) == nil)
    #expect(NodesReport.warning(nodes, replicasPromised: 0) == nil, "nothing is promised")
    #expect(NodesReport.warning([], replicasPromised: 1) == nil)
  }
}
