import BelfryBytes
import BelfryModel
import BelfryTransport

extension Setting {
  /// The settings for TLS with clients.
  static let tls: [Setting] = [
    Setting("tls.certificateFile", shown: { $0.tls.certificateFile }, otherwise: "none: plain HTTP") {
      configuration, value throws(StartError) in
      configuration.tls.certificateFile = try value.text()
    },
    Setting("tls.keyFile", shown: { $0.tls.keyFile }) { configuration, value throws(StartError) in
      configuration.tls.keyFile = try value.text()
    },
    Setting("tls.minimum", shown: { $0.tls.minimum.rawValue }) { configuration, value throws(StartError) in
      guard let version = TLSVersion(word: UTF8Text(try value.text())) else {
        throw value.refused("it must be \"1.2\" or \"1.3\"")
      }
      configuration.tls.minimum = version
    },
  ]
}

extension TLSSettings {
  /// - Throws: if one of the files is named without the other.
  func check() throws(StartError) {
    switch (certificateFile, keyFile) {
    case (nil, nil), (_?, _?): return
    case (nil, _?):
      throw StartError(.invalidValue, "it is needed, because tls.keyFile is set", at: "tls.certificateFile")
    case (_?, nil):
      throw StartError(.invalidValue, "it is needed, because tls.certificateFile is set", at: "tls.keyFile")
    }
  }
}
