/** A certificate for localhost and 127.0.0.1 that nobody has signed, and its key: for tests, and good for nothing else. */
export const selfSigned = {
  cert: `-----BEGIN CERTIFICATE-----
MIIBmzCCAUGgAwIBAgIUc/ABYo3SiBAhfGo7l+t4kzmuDhMwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMTA5MDY0MloYDzIxMjYxMDI4
MDkwNjQyWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAR2mOpv1ArbZzCIgMO1vtLo0q6LP5Grmjmf1Jjtbq6lEBBnBzxt5sNt
X6usIc3PKbA++g87eRC2dRT6mqMWFUSKo28wbTAdBgNVHQ4EFgQU8jTzC9HXtPBA
wrV3yCmanIj4frcwHwYDVR0jBBgwFoAU8jTzC9HXtPBAwrV3yCmanIj4frcwDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDSAAwRQIhAMl9HVoZi3e0GBadhL3qWllrudpjFZMd+suEiCuGNvZfAiAb
sjNUiX9gqjq2mFkHPGsvnccgHU6JCw8vfhQYl0KlHg==
-----END CERTIFICATE-----`,
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgfaTo5h/OekgcX+mR
PEQdMGOweS6XoPT1UcG/tiO3ANyhRANCAAR2mOpv1ArbZzCIgMO1vtLo0q6LP5Gr
mjmf1Jjtbq6lEBBnBzxt5sNtX6usIc3PKbA++g87eRC2dRT6mqMWFUSK
-----END PRIVATE KEY-----`,
} as const;
