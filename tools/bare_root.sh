# Functions for proofs in a bare Debian. tools/prove_setup and tools/prove_wheel source this file. The functions need root
# and debootstrap. They name no server: mirror, proxies, certificates and pip's settings come from this machine.
# Callers set `root`, the folder of the new system.

[ "$(id -u)" = 0 ] || { echo "$(basename "$0"): needs root (mounts, another root)" >&2; exit 1; }
command -v debootstrap >/dev/null || { echo "$(basename "$0"): apt-get install debootstrap first" >&2; exit 1; }
mapfile -t network < <(env | grep -E '^(https?_proxy|HTTPS?_PROXY|no_proxy|NO_PROXY|PIP_[A-Z_]*|SSL_CERT_(FILE|DIR))=' || true)

# bootstrap SUITE PACKAGES: makes a minimal system, unless it exists.
bootstrap() {
  local mirror
  [ ! -e "$root/root/bootstrapped" ] || return 0
  mirror=$(sed -n 's/^URIs: //p' /etc/apt/sources.list.d/debian.sources 2>/dev/null | head -n 1)
  debootstrap --variant=minbase "--include=$2" "$1" "$root" "${mirror:-http://deb.debian.org/debian}"
  touch "$root/root/bootstrapped"
}

# Copies this machine's network settings into the new root, and nothing else.
take_over_settings() {
  local file
  for file in /etc/resolv.conf /etc/hosts /etc/pip.conf; do
    [ ! -e "$file" ] || cp -L "$file" "$root$file"
  done
  cp -rL /usr/local/share/ca-certificates/. "$root/usr/local/share/ca-certificates/" 2>/dev/null || true
  apt-config dump | grep -E '^Acquire::(https?::Proxy|Check-)' >"$root/etc/apt/apt.conf.d/90prove-setup" || true
  inside update-ca-certificates
}

# Runs a command in the new root. It is a real root, because the gym's jail does not work in a chroot. All mounts are in a
# namespace of their own and end with it.
inside() {
  unshare --mount --propagation private bash -euc '
    mount --bind "$1" "$1"
    cd "$1"
    mount -t proc proc proc
    mount --rbind /dev dev
    mount --rbind /sys sys
    mkdir -p .outside
    pivot_root . .outside
    cd /
    umount -l /.outside
    shift
    exec env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 "$@"
  ' inside "$root" "${network[@]}" bash -c "cd /root && $1"
}
