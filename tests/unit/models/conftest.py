from scripted.fixtures import scripted as scripted
