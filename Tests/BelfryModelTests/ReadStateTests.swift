import BelfryModel
import ModelSamples
import Testing

struct ReadStateTests {
  static let server = SpaceID.server(77)
  static let other = SpaceID.personal("ann")

  static func id(_ sequence: Int64, _ space: SpaceID = server) -> MessageID {
    MessageID(unixMilliseconds: 1_763_700_000_000, partition: space.partition, sequence: sequence)
  }

  @Test func theWatermarkCoversItselfAndAllBelow() {
    var state = ReadState(watermarks: [Self.id(10)])
    #expect(state.contains(Self.id(10), in: Self.server) && state.contains(Self.id(0), in: Self.server))
    #expect(!state.contains(Self.id(11), in: Self.server))
    state.mark([Self.id(5), Self.id(12)])
    #expect(state.above == [Self.id(12)])
  }

  /// Its clock may be behind: an id below may be yet to come.
  @Test func anotherPartitionIsNoneOfItsBusiness() {
    let state = ReadState(watermarks: [Self.id(10)])
    #expect(Self.id(1, Self.other) < Self.id(10) || Self.id(1, Self.other) > Self.id(10))
    #expect(!state.contains(Self.id(1, Self.other), in: Self.other))
    #expect(state.watermarks == [Self.id(10)])
  }

  @Test func theWatermarkNeverGoesBack() {
    var state = ReadState(
      watermarks: [Self.id(10)], above: [Self.id(12), Self.id(20), Self.id(3, Self.other)])
    state.raise(to: Self.id(9))
    #expect(state.watermarks == [Self.id(10)])
    state.raise(to: Self.id(12))
    #expect(
      state == ReadState(watermarks: [Self.id(12)], above: [Self.id(20), Self.id(3, Self.other)]))
  }

  /// The index learned of it only after the mark.
  @Test func whatAnAccountCouldNotSeeIsNotRead() {
    var state = ReadState(watermarks: [Self.id(10)], version: 1)
    let twin = SpaceID.server(Self.server.partition.servers.first { SpaceID.server($0) != Self.server } ?? 1)
    state.learn(of: twin, in: twin.partition, since: Self.id(4))
    #expect(state.version == 2)
    #expect(state.contains(Self.id(7), in: Self.server))
    #expect(!state.contains(Self.id(7), in: twin) && state.contains(Self.id(4), in: twin))
    #expect(state.watermark(of: twin, .standard) == Self.id(4))
    state.mark([Self.id(7)])
    #expect(state.contains(Self.id(7), in: twin) && !state.contains(Self.id(8), in: twin))
    state.raise(to: Self.id(12))
    #expect(state.contains(Self.id(7), in: twin) && !state.contains(Self.id(8), in: twin))
    state.catchUp([twin], .standard)
    #expect(state.contains(Self.id(8), in: twin) && state.above.isEmpty)
  }

  @Test func whatIsLearnedInTimeIsNotLate() {
    var state = ReadState(watermarks: [Self.id(10)], version: 1)
    state.learn(of: Self.server, in: Self.server.partition, since: Self.id(10))
    #expect(state.lagging.isEmpty)
    var fresh = ReadState()
    fresh.learn(of: Self.server, in: Self.server.partition, since: .zero)
    #expect(fresh == ReadState())
  }

  @Test func theLastOfAPartition() {
    let (low, high) = (Partition(3), Partition(9))
    guard let low, let high else { return }
    let id = MessageID(unixMilliseconds: 1_763_700_000_000, partition: low, sequence: 5)
    #expect(id.last(in: low) == id)
    let above = id.last(in: high)
    #expect(above < id && above.partition == high && above.unixMilliseconds == id.unixMilliseconds - 1)
    let other = MessageID(unixMilliseconds: 1_763_700_000_000, partition: high, sequence: 5)
    let below = other.last(in: low)
    #expect(below < other && below.partition == low && below.sequence == 4_095)
    #expect(below.unixMilliseconds == other.unixMilliseconds)
    #expect(MessageID.last.last(in: low).partition == low)
    #expect(MessageID.zero.last(in: high) == .zero)
  }
}
