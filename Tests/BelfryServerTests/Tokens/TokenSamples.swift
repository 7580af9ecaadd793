/// Keys and tokens made by other programs: the openssl command and Python's hmac. All tokens have the payload
/// `{"sub":"bob","exp":4102444800,"role":"app"}`.
enum TokenSamples {
  /// RS256 with the kid `rsa-1`.
  static let rs =
    "eyJhbGciOiJSUzI1NiIsImtpZCI6InJzYS0xIn0.eyJzdWIiOiJib2IiLCJleHAiOjQxMDI0NDQ4MDAsInJvbGUiOiJhcHAi"
    + "fQ.yubHwOHm_6C5c5sMi8LJmpxurFsJ49LS-QizQA9FQKzV2Kp6G0nAI3DJJ5BR2PBU8tGhh8TLI1vE9NjHpSSumDyFJYIhc"
    + "v0Cqbg3DF1tTQfyepd3CjZ7Jkco7F6Y9Bzo4Q6UTjPZx9S-vi7cqTRm2pUmpnIT5X8RvTHakd6bV7tGhZyZv1NHzHdZwhF6a"
    + "aIbBoN4lhx25j6ROTkyboAdBDzOltep6gJz48lOajIDXwEqauvq1L3gI3H5ySM2RKER5AU8uRtBWhq21mPpkj4zslivvlHwp"
    + "kxhQwJoXPk-0flpPmJyLr_1bQDcdcYerguOc1iRIErmcAgUq7P-GtzujQ"
  /// EdDSA with the kid `ed-1`.
  static let ed =
    "eyJhbGciOiJFZERTQSIsImtpZCI6ImVkLTEifQ.eyJzdWIiOiJib2IiLCJleHAiOjQxMDI0NDQ4MDAsInJvbGUiOiJhcHAif"
    + "Q.ONXF8DFa94Q_CYW4ri5WdP11P9LpaXsNWkRe44wGDIxTYQ5IOqghZJB8gglGQamcok7XbuM-_ZES9dPN4Oh_DQ"
  /// The same algorithm by its newer name, and no kid.
  static let edNoKid =
    "eyJhbGciOiJFZDI1NTE5In0.eyJzdWIiOiJib2IiLCJleHAiOjQxMDI0NDQ4MDAsInJvbGUiOiJhcHAifQ.BC7j8NBSkYWx7"
    + "6yWxCHJ005gvhY1Sz4zyTgciAwDZe4DgEVKKy17dix5r69nbqaDtsueLNrSsaJdNbKFTXXKDA"
  /// HS256 with the RSA key's PEM, as its file is, for a secret.
  static let confusedPem =
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJib2IiLCJleHAiOjQxMDI0NDQ4MDAsInJvbGUiOiJhcHAifQ.xbd1F9t-RfmQoj6J"
    + "_IIMfJ6OAYBO6NoEVGbR3Z5MZAI"
  /// The same without the last line's end.
  static let confusedTrim =
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJib2IiLCJleHAiOjQxMDI0NDQ4MDAsInJvbGUiOiJhcHAifQ.24OcasoRUY3N7IxF"
    + "N3nIO1HoqS4VIR_3zn0HlvX2GTA"
  /// The same with the key's standard form.
  static let confusedDer =
    "eyJhbGciOiJIUzI1NiIsImtpZCI6InJzYS0xIn0.eyJzdWIiOiJib2IiLCJleHAiOjQxMDI0NDQ4MDAsInJvbGUiOiJhcHAi"
    + "fQ.UxRcReaPzEhuhpVJEmrs2I3gSv6wQDLyPymVNtEFRoE"
  /// Signed by RSA, but its header says EdDSA.
  static let rsSaysEd =
    "eyJhbGciOiJFZERTQSIsImtpZCI6InJzYS0xIn0.eyJzdWIiOiJib2IiLCJleHAiOjQxMDI0NDQ4MDAsInJvbGUiOiJhcHAi"
    + "fQ.J4RbrjDWgUy9vBl7ymdnoT9tpg0Z6y7mzaOtYvlQe-o3hbbcBRKAjAfAjGrlYdC7mYuZfrAVfXYdQTultwBDbfZ4khvrU"
    + "xDcUucv5g7cGCYFolp8KmZWwaicQE0UZQInBeZwIDG_iHtp0-6xBemWDWjRnblU_aT7H6viRUFqSkglZLxJuJ2Sf4jIVnej5"
    + "MsT14Gtf7TNqP_xqw-yYTFRWKT5oVHtpipBgzjhnBSwe1KZovnz-RolPBupdnGgYI4QxHG2FXg4rBzkHlT_AW3GTB-cX1nzy"
    + "xFciSvN3ioVYetY3A0zUXLKtiaL3WysUL50W7Lc3t-dm-Pb3dPQmZtVlA"
  /// HS256 by the secret of `TokenTests`, with `crit`.
  static let crit =
    "eyJhbGciOiJIUzI1NiIsImNyaXQiOlsiZXhwIl19.eyJzdWIiOiJib2IiLCJleHAiOjQxMDI0NDQ4MDAsInJvbGUiOiJhcHA"
    + "ifQ.NrsbMTSPBJq_QBJZhL-eTCJ11plnG1tMvr0O9Dp48BQ"
  /// The same without `alg`.
  static let noalg =
    "eyJ0eXAiOiJKV1QifQ.eyJzdWIiOiJib2IiLCJleHAiOjQxMDI0NDQ4MDAsInJvbGUiOiJhcHAifQ.ehIPP9RZo-xGqOprhF"
    + "tH4j21Snxw8AWbTVb8sDCk_Co"
  /// The same with a kid that no key has.
  static let unknownKid =
    "eyJhbGciOiJIUzI1NiIsImtpZCI6ImVsc2V3aGVyZSJ9.eyJzdWIiOiJib2IiLCJleHAiOjQxMDI0NDQ4MDAsInJvbGUiOiJ"
    + "hcHAifQ.eZ7S4VTOT8chKlP-SMiwFE673K3ugUhZ85RCf2mxQnw"

  /// The keys as a key set has them.
  static let ed25519X = "72IQRfN21UKA6yMZ9BLkcOHsh3NT8LD_KBhE_vlNp7s"
  static let rsaN =
    "6qdFWYPOjTtCh4CmMFhHry_GVpE4zIoY8F3ePCsbCsYv4bRUyEChL7tTna1T1eLR5vqL_pq24tL2BY7x__BkoWE3oKzfW66C"
    + "QjJ4wrE0I2gsxFftZYHRQuyObUPww4flN99eiZEVarYTk9i549lkLL3eAfhCkLjnd7Rtx82mF_WcRj7ZeEqT_QzINyJVkaGm"
    + "MEmBv8ExTkmi8hlqqQlzzpH19rwn1Wa8acXJo4Wqg8Kc4JUZ3lVvR-TztPCnoHMaVe6iguuXyiy6J9e14c6NoPAoHqCmVs7Y"
    + "SgkbwECLAS0PvMnmfadyKyQaNJpTBerxEayYS-nHpPZdna5q0pExfQ"

  static let ed25519PEM = """
    -----BEGIN PUBLIC KEY-----
    MCowBQYDK2VwAyEA72IQRfN21UKA6yMZ9BLkcOHsh3NT8LD/KBhE/vlNp7s=
    -----END PUBLIC KEY-----

    """

  static let rsaPEM = """
    -----BEGIN PUBLIC KEY-----
    MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA6qdFWYPOjTtCh4CmMFhH
    ry/GVpE4zIoY8F3ePCsbCsYv4bRUyEChL7tTna1T1eLR5vqL/pq24tL2BY7x//Bk
    oWE3oKzfW66CQjJ4wrE0I2gsxFftZYHRQuyObUPww4flN99eiZEVarYTk9i549lk
    LL3eAfhCkLjnd7Rtx82mF/WcRj7ZeEqT/QzINyJVkaGmMEmBv8ExTkmi8hlqqQlz
    zpH19rwn1Wa8acXJo4Wqg8Kc4JUZ3lVvR+TztPCnoHMaVe6iguuXyiy6J9e14c6N
    oPAoHqCmVs7YSgkbwECLAS0PvMnmfadyKyQaNJpTBerxEayYS+nHpPZdna5q0pEx
    fQIDAQAB
    -----END PUBLIC KEY-----

    """

  static let smallRSAPEM = """
    -----BEGIN PUBLIC KEY-----
    MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQC5ctSWOVd2zvYG71yrl0OuexT2
    tFOa501YgiYhaS8trStXcDO9s6B6bouXrtFyA+34BVvq9xAxEUmfNiPIzMAPTCs3
    0Zi3gf2M0QUVxEnmx0G/iYgNtMyytDq/z0i0mmbH5XhGLJZzcSpoHc/wCevBf5+m
    SERF1am1Db5nSm8KswIDAQAB
    -----END PUBLIC KEY-----

    """

  static let ecPEM = """
    -----BEGIN PUBLIC KEY-----
    MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEwXeKFIFOFINUdJ3A0+dKCHfv4ewf
    reFEfNf+6OmfbM55yLRqiFJypq1/gf3kXUurb62ZDnzrtvybHVw2sjaHlA==
    -----END PUBLIC KEY-----

    """
}
