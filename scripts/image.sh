#!/usr/bin/env bash
# Builds the image of the Dockerfile with buildah, without a daemon: make image (docs/deploy.md)
#   scripts/image.sh            build
#   scripts/image.sh COMMAND…   run a command after the build that sees the same images
# Images and layers are kept in .image/, so that a second build takes seconds.
set -euo pipefail
cd "$(dirname "$0")/.."

LIMIT=500000000 # bytes, of all layers unpacked
PIP=${PIP:-.venv/bin/pip}

if [ "$(id -u)" != 0 ]; then
    echo "make image: needs root, to mount layers and to make the base image: sudo make image" >&2
    exit 1
fi
for program in buildah crun debootstrap; do
    if ! command -v "$program" >/dev/null; then
        echo "make image: $program is missing: apt-get install buildah crun debootstrap" >&2
        exit 1
    fi
done
# In namespaces of its own: with this script every mount and every process it made is gone,
# however it ends.
if [ -z "${LLR_IMAGE_RUN:-}" ]; then
    LLR_IMAGE_RUN=$(mktemp -d /run/llr-image-XXXXXX)
    trap 'rm -rf "$LLR_IMAGE_RUN"' EXIT
    export LLR_IMAGE_RUN
    unshare --mount --propagation private --pid --fork --kill-child --mount-proc -- "$0" "$@"
    exit
fi
# crun refuses some mixtures of cgroup versions, and this needs no cgroups
mount -t tmpfs tmpfs /sys/fs/cgroup

buildah() { command buildah --root "$PWD/.image/storage" --runroot "$LLR_IMAGE_RUN" "$@"; }

# The base image of the same name, where no registry of images can be reached: Debian with its own
# Python. It is tagged for this machine only, and never leaves .image/.
make_base() {
    local suite=${1##*-} python=${1#*:} container root
    container=$(buildah from scratch)
    root=$(buildah mount "$container")
    debootstrap --variant=minbase --include=ca-certificates,netbase,tzdata,python3-venv \
        "$suite" "$root" >.image/debootstrap.log || { tail -n 5 .image/debootstrap.log >&2; exit 1; }
    rm -rf "$root"/var/{cache/apt/*,lib/apt/lists/*,log/*} "$root"/usr/share/{doc,info,locale,man}/*
    ln -s /usr/bin/python3 "$root/usr/local/bin/python"
    if [ ! -x "$root/usr/bin/python${python%%.[0-9]*-*}" ]; then
        echo "make image: Debian's $suite has no Python like that of $1" >&2
        exit 1
    fi
    buildah config --cmd python3 --env LANG=C.UTF-8 \
        --env PATH=/usr/local/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin "$container"
    buildah umount "$container" >/dev/null
    buildah commit --quiet --rm "$container" "localhost/$1" >/dev/null
}

# Where this machine's pip finds packages, for pip in the build: indexes, proxies, certificates and
# folders. These are mounted while a RUN instruction runs, so nothing of them is in the image.
pip_mounts() {
    local path
    printf '[global]\n' >.image/pip.conf
    "$PIP" config list | sed -nE "s/^[^.]+\.([a-z-]+)='(.*)'$/\1 = \2/p" | awk '!seen[$1]++' |
        grep -E '^((extra-)?index-url|find-links|no-index|proxy|cert|trusted-host|.*timeout) ' \
            >>.image/pip.conf || true
    echo "--volume=$PWD/.image/pip.conf:/etc/pip.conf:ro"
    grep -oE '/[^ ]+' .image/pip.conf | sed -E 's|^/+|/|; s|/simple/?$||' | sort -u |
        while read -r path; do
            if [ -e "$path" ]; then echo "--volume=$path:$path:ro"; fi
        done
}

mkdir -p .image
exec 9>.image/lock
flock 9 # a build at a time: each has its own record of what is mounted
base=$(sed -nE 's/^FROM (\S+:\S+).*/\1/p' Dockerfile)
image=$(sed -nE 's/^ *image: (llr:\S+)/\1/p' docker-compose.yml)
if ! buildah inspect --type image "$base" >/dev/null 2>&1; then
    if timeout 120 command buildah --root "$PWD/.image/storage" --runroot "$LLR_IMAGE_RUN" \
        pull --quiet "$base" >/dev/null 2>.image/pull.log; then
        echo "base image $base: from a registry"
    else
        echo "base image $base: no registry can be reached, so it is made with debootstrap"
        make_base "$base"
    fi
fi
mapfile -t mounts < <(pip_mounts)
if ! buildah build --format docker --layers --pull-never --isolation chroot --network host \
    "${mounts[@]}" --tag "$image" . >.image/build.log 2>&1; then
    tail -n 40 .image/build.log >&2
    echo "make image: the build failed; all of its output is in .image/build.log" >&2
    exit 1
fi
container=$(buildah from --pull-never "$image")
root=$(buildah mount "$container")
size() { du --summarize --block-size=1 --total "$@" | tail -n 1 | cut -f 1; }
bytes=$(size "$root")
packages=$(echo "$root"/opt/llr/lib/python*/site-packages)
printf '%s: %d MB\n' "$image" $((bytes / 1000000))
printf '  %4d MB  %s\n' \
    $(((bytes - $(size "$root/opt/llr")) / 1000000)) "the base image" \
    $(($(size "$packages"/llvmlite*) / 1000000)) "llvmlite" \
    $(($(size "$packages"/numpy*) / 1000000)) "numpy" \
    $(($(size "$packages"/numba*) / 1000000)) "numba" \
    $(($(size "$root/opt/llr/kernels") / 1000000)) "compiled kernels" \
    $(($(size "$packages"/llr*) / 1000000)) "LLR itself"
buildah rm "$container" >/dev/null
if [ "$bytes" -gt "$LIMIT" ]; then
    echo "make image: the image is larger than $((LIMIT / 1000000)) MB" >&2
    exit 1
fi
"$@"
