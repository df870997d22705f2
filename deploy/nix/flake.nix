# Builds the working tree with Nix: `nix build ./deploy/nix` in a clone. CI checks the syntax and the lists; it is not
# built there.
{
  description = "fieldcost: what library functions cost, measured in the field";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      pkgs = nixpkgs.legacyPackages.x86_64-linux;
    in
    {
      packages.x86_64-linux.default = pkgs.stdenv.mkDerivation {
        pname = "fieldcost";
        version = "0.1.0";
        src = ../..;
        nativeBuildInputs = with pkgs; [ clang cmake ninja pkg-config protobuf ];
        buildInputs = with pkgs; [
          boost
          elfutils
          fmt
          libbpf
          libiberty
          libsodium
          openssl
          prometheus-cpp
          protobuf
          rocksdb
          spdlog
          sqlite
          systemd
          tl-expected
          tomlplusplus
          zlib
          zstd
          zydis
        ];
        cmakeBuildType = "RelWithDebInfo";
        cmakeFlags = [ "-DFIELDCOST_UNITY=ON" ];
        # The project has its own options; the measuring library must not have a stack protector.
        hardeningDisable = [ "all" ];
      };
    };
}
