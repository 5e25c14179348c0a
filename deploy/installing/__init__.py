"""What a hub needs before fleetgate works on it, as files of this folder: read, install, remove.

CRDs (`crds`), roles and accounts (`manifests`), admission policies (`policies`).
"""
